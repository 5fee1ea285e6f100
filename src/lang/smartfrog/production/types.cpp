#include <fmt/format.h>

#include <algorithm>

#include "lang/smartfrog/production/names.h"
#include "lang/smartfrog/production/production.h"

// The type phase: every component takes in its prototypes, from the last to the first, so that what is written later
// wins while what is inherited keeps its place in front. A prototype is looked for from the component that is being
// defined and is resolved first; what it still contains as links is copied as links.
namespace tutti::smartfrog::production {
namespace {

bool is_plain(const Item& item) {
  if (item.is(What::kDescription)) return item.description->plain;
  if (item.is(What::kVector))
    return std::all_of(item.vector->items.begin(), item.vector->items.end(), [](const Item& i) { return is_plain(i); });
  return item.is(What::kBasic);
}

bool is_plain(const Description& d) {
  if (!d.types.empty() || !d.orders.empty() || d.places) return false;
  for (u32 i = 0; i < d.slots.size; i++) {
    const Slot& s = d.slots.slots[i];
    if (!s.path.empty() || !s.tags.empty() || s.merge || s.key.text().starts_with("phase.") || !is_plain(s.item))
      return false;
  }
  return true;
}

}  // namespace

bool Compiler::type_phase(Description* root) {
  // What could not be found may be found after another component has taken in what it inherits.
  do {
    troubles_.clear();
    circles_.clear();
    progress_ = false;
    taken_++;
    resolve_types(root);
  } while (!troubles_.empty() && progress_);
  return report("SF-TYPE");
}

void Compiler::resolve_types(Description* d) {
  if (d->types_done || d->types_within || d->types_failed == taken_) return;
  Budget::Level level(session_.budget);
  session_.budget.step();
  if (!take_in_types(d)) return;
  d->types_within = true;
  bool all = true, failed = true;
  for (u32 i = 0; i < d->slots.size; i++) {
    Item item = d->slots.slots[i].item;
    if (!item.is(What::kDescription)) continue;
    resolve_types(item.description);
    if (item.description->types_done) continue;
    all = false;
    failed &= item.description->types_failed == taken_;
  }
  d->types_within = false;
  d->types_done = all;
  d->plain = all && is_plain(*d);
  if (!all && failed) d->types_failed = taken_;
}

bool Compiler::take_in_types(Description* d) {
  if (d->types_busy) return false;
  d->types_busy = true;
  bool ok = true, again = false;
  while (ok && !d->types.empty()) {
    Type t = d->types.back();
    if (t.body) {
      Description* block = make_description(t.body->begin, t.body->end, d);
      fill(block, *t.body);
      if (t.merge) mark_merge(block);
      for (Slot& s : block->slots)
        if (s.item.is(What::kDescription) || s.item.is(What::kApply) || s.item.is(What::kAssert))
          s.item.description->parent = d;
      inherit_orders(d, block->orders);
      if (block->places) mark_places(d);
      ok = take_in(d, block->slots, {t.body->begin, t.body->end});
    } else {
      Description* prototype = t.base;
      Span at = t.ref ? t.ref->span() : Span(d->begin);
      if (t.ref) {
        Item found;
        Found f = resolve_reference(d, *t.ref, t.ref->parts, found);
        if (f != Found::kYes) {
          trouble(at,
                  f == Found::kCycle ? fmt::format("`{}` refers to itself", text_of(*t.ref))
                                     : fmt::format("there is no component `{}` to extend", text_of(*t.ref)),
                  help_);
          if (!why_.empty() && f == Found::kNo && t.ref->parts.size() > 1) troubles_.back().other_text = why_;
          ok = false;
          break;
        }
        if (!found.is(What::kDescription)) {
          trouble(at, fmt::format("`{}` is not a component: it cannot be a prototype", text_of(*t.ref)));
          if (!found.basic.secret()) {  // the line is shown with it
            troubles_.back().other = session_.origins.written(found.basic.origin());
            troubles_.back().other_text = "it has its value from here";
          }
          ok = false;
          break;
        }
        prototype = found.description;
      }
      defining_.push_back({d, t.ref});
      resolve_types(prototype);
      if (!prototype->types_done) {
        bool cycle = prototype->types_busy || prototype->types_within;
        for (Description* p = d; p && !cycle; p = p->parent) cycle = p == prototype;
        if (cycle) tell_circle(prototype, at);
        again = !cycle && prototype->types_failed != taken_;
        defining_.pop_back();
        ok = false;
        break;
      }
      defining_.pop_back();
      copies_all_ = t.merge || t.base;  // it is changed all the way down
      Description* copied = copy(prototype, d);
      copies_all_ = false;
      if (t.ref) {
        Symbol name(text_of(*t.ref));
        for (Slot& s : copied->slots) {
          Origin o = session_.origins.add(How::kInherited, t.ref->begin, s.item.basic.origin(), {}, name);
          s.item.basic = s.item.basic.with_origin(o);
        }
      }
      if (t.merge) mark_merge(copied);
      for (Slot& s : copied->slots)
        if (s.item.is(What::kDescription) || s.item.is(What::kApply) || s.item.is(What::kAssert))
          if (!s.item.description->plain) s.item.description->parent = d;
      inherit_orders(d, copied->orders);
      if (copied->places) mark_places(d);
      ok = take_in(d, copied->slots, at);
    }
    if (!ok) break;
    progress_ = true;
    taken_++;
    d->types = d->types.first(d->types.size() - 1);
  }
  d->types_busy = false;
  // Not to be tried and told again until something else has been taken in.
  if (!ok && !again) d->types_failed = taken_;
  return ok;
}

// A circle of prototypes is told once, where it closes, and not again by the others that are part of it or extend them.
void Compiler::tell_circle(Description* prototype, Span at) {
  auto from =
      std::find_if(defining_.begin(), defining_.end(), [&](const Defining& x) { return x.component == prototype; });
  bool told = circles_.contains(prototype);
  const Reference* last = defining_.back().extends;
  std::string name = last ? text_of(*last) : "";
  std::string way = name;
  for (auto x = from; x != defining_.end(); ++x) {
    x->component->types_failed = taken_;
    told |= circles_.contains(x->component);
    if (x->extends) way += fmt::format(" -> {}", text_of(*x->extends));
  }
  if (told) return;
  circles_.insert(prototype);
  for (auto x = from; x != defining_.end(); ++x) circles_.insert(x->component);
  trouble(at, fmt::format("`{}` is being defined here: a component cannot extend itself or what it is in", name));
  if (from != defining_.end() && from + 1 != defining_.end())
    troubles_.back().other_text = fmt::format("the circle is {}", way);
}

void Compiler::inherit_orders(Description* d, std::span<const OrderRule> orders) {
  order_.replace(orders, d->orders);
  if (d->orders.empty()) d->orders = orders;
}

// Puts what the component has itself over what it inherits; `from` is a copy that may be changed.
bool Compiler::take_in(Description* d, TableOf<Slot>& from, Span at) {
  session_.budget.step(from.size + d->slots.size);
  if (d->slots.size == 0) {
    d->slots = from;
    return true;
  }
  for (const Slot& own : d->slots) {
    Slot* inherited = from.find(own.key);
    if (!inherited && own.has_tag(names().override)) {
      trouble(own.placed,
              fmt::format("`{}` is tagged sfOverride, but there is nothing of that name to override", own.key.text()));
      troubles_.back().other = at;
      troubles_.back().other_text = "this prototype does not have it";
      return false;
    }
    if (inherited && inherited->has_tag(names().final)) {
      trouble(own.placed, fmt::format("`{}` is tagged sfFinal: it may not be overridden", own.key.text()));
      troubles_.back().other = inherited->placed;
      troubles_.back().other_text = "tagged here";
      return false;
    }
  }
  if (warn_about_order) check_order(d, from);
  for (const Slot& own : d->slots) {
    bool added;
    Slot* s = from.put(arena_, own.key, added);
    Pos placed = added ? own.placed : s->placed;
    std::span<const Symbol> tags = s->tags;
    Slot before = *s;
    *s = own;
    s->placed = placed;
    s->tags = tags;
    set_tags(s, own.tags);
    if (added) continue;
    if (own.merge && own.item.is(What::kDescription) && before.item.is(What::kDescription)) {
      compose(s, &before);
    } else {
      Origin o =
          session_.origins.add(How::kOverridden, own.placed, own.item.basic.origin(), before.item.basic.origin());
      s->item.basic = s->item.basic.with_origin(o);
    }
  }
  d->slots = from;
  return true;
}

void Compiler::check_order(const Description* d, const TableOf<Slot>& from) {
  const Slot *highest = nullptr, *highest_own = nullptr;
  for (const Slot& own : d->slots) {
    const Slot* inherited = from.find(own.key);
    if (!inherited || !own.path.empty()) continue;
    if (!highest || inherited > highest) {
      highest = inherited;
      highest_own = &own;
    } else if (own.placed > highest_own->placed) {
      order_.add(d->orders, own.key, highest->key, own.placed, inherited->placed, highest->placed);
    }
  }
}

// merge( ): the inherited component becomes the first prototype of the one written over it.
void Compiler::compose(Slot* own, Slot* inherited) {
  Description* d = own->item.description;
  std::vector<Type> types{{nullptr, nullptr, inherited->item.description, false}};
  types.insert(types.end(), d->types.begin(), d->types.end());
  d->types = arena_.copy(std::span<const Type>(types));
  d->types_done = false;
}

void Compiler::mark_merge(Description* d) {
  Budget::Level level(session_.budget);
  for (Slot& s : d->slots) {
    s.merge = true;
    if (!s.item.is(What::kDescription)) continue;
    mark_merge(s.item.description);
    for (Type& t : s.item.description->types) t.merge = true;
  }
}

}  // namespace tutti::smartfrog::production
