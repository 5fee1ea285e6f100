#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "base/near.h"
#include "lang/smartfrog/production/environment.h"
#include "lang/smartfrog/production/names.h"
#include "lang/smartfrog/production/production.h"
#include "tree/secret.h"

// Finding what a reference means. Only its first word is searched outwards. Where a step lands on a link the link is
// followed first, in the component that holds it; in the link phase what was found there is kept, so that a chain of
// links is followed once.
namespace tutti::smartfrog::production {
namespace {

// What to point at when an attribute has no value: the link or the expression, or else its name.
Span written(const Item& item, Pos name) {
  if (item.is(What::kReference)) return item.ref->span();
  if ((item.is(What::kApply) || item.is(What::kAssert)) && item.description->expression)
    return {item.description->begin, item.description->end};
  return Span(name);
}

}  // namespace

Compiler::Found Compiler::no(std::string why, std::string help) {
  why_ = std::move(why);
  help_ = std::move(help);
  reported_ = false;
  return Found::kNo;
}

void Compiler::forget_troubles(std::size_t from) {
  if (troubles_.size() == from) return;
  troubles_.resize(from);
  epoch_++;
}

Compiler::Found Compiler::resolve(Description* at, Item& item, Item& out) {
  Budget::Level level(session_.budget);
  session_.budget.step();
  switch (item.what) {
    case What::kTbd: return no("this attribute is still to be defined (TBD)");
    case What::kReference: {
      if (item.lazy) return Found::kLazy;
      std::size_t troubles = troubles_.size();
      Found f = resolve_reference(at, *item.ref, item.ref->parts, out);
      if ((f == Found::kNo || f == Found::kLazy) && item.ref->optional) {
        forget_troubles(troubles);
        out = {};
        if (item.ref->otherwise) out = make_item(*item.ref->otherwise, at);
        out.basic = out.basic.with_origin(session_.origins.add(How::kDefault, item.ref->begin, out.basic.origin()));
        return Found::kYes;
      }
      return f;
    }
    case What::kApply: return apply(at, item, out);
    case What::kAssert: return check(at, item, out);
    default: out = item; return Found::kYes;
  }
}

Compiler::Found Compiler::resolve_reference(Description* at, const Reference& r, std::span<const RefPart> parts,
                                            Item& out) {
  return walk(at, parts, &r, out);
}

// The value of an attribute, links followed, with the mark of a secret: those who use it do not see its tags.
Compiler::Found Compiler::value_of(Description* d, u32 slot, Item& out) {
  Found f = find_value(d, slot, out);
  if (f == Found::kYes && out.is(What::kBasic) && d->slots.slots[slot].has_tag(secret_tag()))
    out.basic = out.basic.as_secret();
  return f;
}

// Whoever comes here again before the value is known has gone in a circle.
Compiler::Found Compiler::find_value(Description* d, u32 slot, Item& out) {
  Slot& s = d->slots.slots[slot];
  if (s.item.is(What::kVector)) {
    bool links = false;
    for (const Item& i : s.item.vector->items) links |= i.is_link();
    if (!links) {
      out = s.item;
      return Found::kYes;
    }
    std::vector<Item> items;
    for (Item i : s.item.vector->items) {
      Item found = i;
      if (i.is_link()) {
        Found f = resolve(d, i, found);
        if (f != Found::kYes) return f;
      }
      items.push_back(found);
    }
    out = d->slots.slots[slot].item;
    out.vector = arena_.make<Vector>();
    out.vector->items = arena_.copy(std::span<const Item>(items));
    return Found::kYes;
  }
  if (!s.item.is_link()) {
    out = s.item;
    return Found::kYes;
  }
  if (s.resolving) {
    if (linking_) tell_loop(d, slot);
    return Found::kCycle;
  }
  if (linking_ && s.failed == epoch_) {
    reported_ = true;
    return Found::kNo;
  }
  s.resolving = true;
  resolving_.emplace_back(d, slot);
  Item item = s.item;
  Found f = resolve(d, item, out);
  resolving_.pop_back();
  Slot& after = d->slots.slots[slot];
  after.resolving = false;
  if (linking_ && f == Found::kNo) {  // told where it happened, and not again by those who depend on it
    if (!reported_) trouble(written(item, after.placed), why_, help_);
    reported_ = true;
    after.failed = epoch_;
    return f;
  }
  if (linking_ && f == Found::kYes && item.is(What::kReference) && !out.is_link()) {
    Origin o =
        session_.origins.add(How::kReferenced, item.ref->begin, out.basic.origin(), {}, Symbol(text_of(*item.ref)));
    out.basic = out.basic.with_origin(as_inherited(item.basic.origin(), o));
    after.item = out;
  } else if (linking_ && f == Found::kLazy && item.is(What::kApply)) {
    after.item.lazy = true;
  } else if (linking_ && f == Found::kYes && item.is(What::kApply) && !out.is_link()) {
    out.basic = out.basic.with_origin(as_inherited(item.basic.origin(), out.basic.origin()));
    after.item = out;
  }
  return f;
}

// A link or expression that was inherited is answered where it is now: its value came the way it came.
Origin Compiler::as_inherited(Origin link, Origin value, int most) {
  if (!link.is_step() || most == 0) return value;
  OriginStep step = session_.origins[link];
  if (step.how != How::kInherited) return value;
  return session_.origins.add(How::kInherited, step.at, as_inherited(step.value, value, most - 1), {}, step.name);
}

// A loop is told once, where it was found, and not again by the others that are part of it.
void Compiler::tell_loop(Description* d, u32 slot) {
  auto from = std::find(resolving_.begin(), resolving_.end(), std::make_pair(d, slot));
  auto has_name = [](const Slot& s) { return !s.key.text().starts_with("unique"); };
  std::string loop;
  for (auto at = from; at != resolving_.end(); ++at) {
    Slot& s = at->first->slots.slots[at->second];
    s.failed = epoch_;
    if (has_name(s)) loop += fmt::format("{} -> ", s.key.text());
  }
  const Slot& s = d->slots.slots[slot];
  std::string message = "this value depends on itself";
  if (has_name(s)) {
    message = fmt::format("the value of `{}` depends on itself", s.key.text());
    if (loop != fmt::format("{} -> ", s.key.text())) message += fmt::format(": {}{}", loop, s.key.text());
  }
  trouble(written(s.item, s.placed), message);
  if (s.item.is(What::kReference) && s.item.ref->parts.size() == 1 && s.item.ref->parts[0].name == s.key)
    troubles_.back().other_text = fmt::format("`PARENT:{0}` is the `{0}` of what this is in", s.key.text());
}

// Follows names to a component that is to be changed, and makes what is shared on the way the component's own. Null
// where the way is not a plain one, which walk() will tell.
Description* Compiler::own(Description* at, std::span<const RefPart> parts, int links) {
  Description* d = at;
  for (const RefPart& p : parts) {
    if (p.kind == Part::kParent) d = d->parent;
    if (p.kind == Part::kRoot)
      while (d->parent) d = d->parent;
    if (p.kind == Part::kAttrib)
      while (d && !d->slots.find(p.name)) d = d->parent;
    if (!d) return nullptr;
    if (p.kind == Part::kParent || p.kind == Part::kRoot || p.kind == Part::kThis) continue;
    Slot* s = p.kind == Part::kAttrib || p.kind == Part::kHere ? d->slots.find(p.name) : nullptr;
    if (!s) return nullptr;
    if (s->item.is(What::kDescription)) {
      if (s->item.description->plain) s->item.description = copy(s->item.description, d);
      d = s->item.description;
    } else if (s->item.is(What::kReference) && !s->item.lazy && !s->item.data && links > 0) {
      d = own(d, s->item.ref->parts, links - 1);
    } else {
      return nullptr;
    }
    if (!d) return nullptr;
  }
  return d;
}

Compiler::Found Compiler::walk(Description* at, std::span<const RefPart> parts, const Reference* whole, Item& out) {
  Description* d = at;
  std::vector<Description*> above;  // those that names led down from: what is shared knows one of its parents only
  auto shown = [&] { return whole ? text_of(*whole) : std::string(parts[0].name.text()); };
  for (std::size_t i = 0; i < parts.size(); i++) {
    const RefPart& p = parts[i];
    const bool last = i + 1 == parts.size();
    switch (p.kind) {
      case Part::kParent:
        if (above.empty()) {
          d = d->parent;
        } else {
          d = above.back();
          above.pop_back();
        }
        if (!d) return no(fmt::format("`{}` goes further out than the file", shown()));
        break;
      case Part::kRoot:
        while (d->parent) d = d->parent;
        break;
      case Part::kThis: break;
      case Part::kAttrib:
      case Part::kHere: {
        Slot* s = d->slots.find(p.name);
        if (p.kind == Part::kAttrib) {
          Description* outer = d;
          for (; !s && !above.empty(); above.pop_back()) {
            outer = above.back();
            s = outer->slots.find(p.name);
          }
          while (!s && outer->parent) {
            session_.budget.step();
            outer = outer->parent;
            s = outer->slots.find(p.name);
          }
          if (s) d = outer;
        } else if (s && i > 0 && s->has_tag(names().local)) {
          return no(fmt::format("`{}` in `{}` is tagged sfLocal: it can only be reached from within its component",
                                p.name.text(), shown()));
        }
        if (!s) {
          std::vector<Symbol> keys;
          for (Description* o = d; o; o = p.kind == Part::kAttrib ? o->parent : nullptr)
            for (u32 k = 0; k < o->slots.size && keys.size() < 2000; k++)
              if (o->slots.slots[k].path.empty()) keys.push_back(o->slots.slots[k].key);
          // The suggestion takes longer than the rest: only as long as somebody will see it.
          Symbol near = troubles_.size() <= session_.budget.limits().errors ? nearest(p.name, keys) : Symbol();
          if (parts.size() == 1 && near.empty() && p.name.text().find_first_of("+-%") != std::string_view::npos)
            return no(fmt::format("there is no `{}` (names may hold `+`, `-` and `%`: operators need blanks around)",
                                  p.name.text()));
          return no(parts.size() == 1 ? fmt::format("there is no `{}`", shown())
                                      : fmt::format("there is no `{}` in what `{}` refers to", p.name.text(), shown()),
                    std::string(near.text()));
        }
        Item found;
        bool direct = s->item.is(What::kDescription);
        Found f = value_of(d, static_cast<u32>(s - d->slots.slots), found);
        if (f != Found::kYes) return f;
        if (direct)
          above.push_back(d);
        else
          above.clear();
        if (last) {
          out = found;
          return Found::kYes;
        }
        if (!found.is(What::kDescription))
          return no(fmt::format("`{}` is not a component: it has no attributes for `{}`", p.name.text(), shown()));
        d = found.description;
        continue;
      }
      default: return outside(p, out);
    }
    if (last) {
      out = {};
      out.what = What::kDescription;
      out.description = d;
      out.basic = Value::null(d->begin);
    }
  }
  return Found::kYes;
}

// What the compiling process itself knows. Hosts and processes are known only to a running system.
Compiler::Found Compiler::outside(const RefPart& p, Item& out) {
  out = {};
  std::string name(p.name.text());
  std::optional<std::string> text;
  switch (p.kind) {
    case Part::kHost: return no(fmt::format("HOST {} is only known at run time", name), {});
    case Part::kProcess: return no("PROCESS is only known at run time");
    case Part::kConstant: {
      auto constant = java_constant(name, arena_);
      if (!constant) return no(fmt::format("there is no constant {}", name));
      out.basic = *constant;
      return Found::kYes;
    }
    case Part::kEnvProperty:
    case Part::kIntEnvProperty:
      if (const char* v = std::getenv(name.c_str())) text = v;
      break;
    default: text = property(name, settings_.properties);
  }
  if (!text)
    return no(fmt::format(
        "there is no {} {}",
        p.kind == Part::kEnvProperty || p.kind == Part::kIntEnvProperty ? "environment variable" : "property", name));
  Origin origin = session_.origins.add(How::kSupplied, {}, {}, {}, p.name);
  if (p.kind == Part::kProperty || p.kind == Part::kEnvProperty) {
    out.basic = Value::string(arena_.copy(std::string_view(*text)), origin);
    return Found::kYes;
  }
  i32 n = 0;
  auto [end, err] = std::from_chars(text->data(), text->data() + text->size(), n);
  if (err != std::errc() || end != text->data() + text->size())
    return no(fmt::format("{} is `{}`, not a number", name, *text));
  out.basic = Value::integer(n, origin);
  return Found::kYes;
}

// ---- functions and assertions

Compiler::Found Compiler::apply(Description* at, Item& item, Item& out) {
  if (item.lazy) return Found::kLazy;
  if (item.data) {
    out = item;
    return Found::kYes;
  }
  Description* d = item.description;
  d->parent = at;
  const Slot* c = d->slots.find(names().function_class);
  if (!c || !c->item.is(What::kBasic) || !c->item.basic.is(Kind::kString))
    return no("a function needs the name of its class in sfFunctionClass");
  std::string_view function = c->item.basic.text();
  std::size_t troubles = troubles_.size();
  bool was_linking = linking_;
  linking_ = true;
  link(d);
  linking_ = was_linking;
  if (troubles_.size() > troubles) {
    reported_ = true;  // one of its arguments
    return Found::kNo;
  }
  std::vector<Argument> args;
  bool lazy = false;
  for (u32 i = 0; i < d->slots.size; i++) {
    if (d->slots.slots[i].key == names().function_class) continue;
    Item value = d->slots.slots[i].item;
    if (!d->slots.slots[i].has_tag(names().ignore_link)) {
      Item found;
      Found f = value_of(d, i, found);
      if (f == Found::kLazy)
        lazy = true;
      else if (f != Found::kYes)
        return f;
      else
        value = found;
    }
    args.push_back({d->slots.slots[i].key, value});
  }
  if (lazy) return Found::kLazy;
  Found f = call(function, args, at, d, out);
  if (f != Found::kYes) return f;
  // What is made of a secret is one.
  auto secret = [](const Argument& a) { return a.item.is(What::kBasic) && a.item.basic.secret(); };
  if (out.is(What::kBasic) && std::any_of(args.begin(), args.end(), secret)) out.basic = out.basic.as_secret();
  if (out.is(What::kDescription)) out.description->parent = nullptr;
  // Made of its arguments, of which two are told, rather what comes from elsewhere than what is written here. One of
  // them may be the result itself; the items of a vector tell their own story.
  Origin value = out.basic.origin(), other;
  for (bool from_elsewhere : {true, false}) {
    for (const Argument& a : args) {
      Origin o = a.item.basic.origin();
      if (!o || o.is_step() != from_elsewhere || o == value || out.is(What::kVector)) continue;
      if (!value)
        value = o;
      else if (!other)
        other = o;
    }
  }
  out.basic = out.basic.with_origin(session_.origins.add(How::kComputed, d->begin, value, other));
  return f;
}

Compiler::Found Compiler::check(Description* at, Item& item, Item& out) {
  if (item.data) {
    out = item;
    return Found::kYes;
  }
  Description* kept = copy(item.description, nullptr);
  Description* d = copy(item.description, at);
  std::string_view when = "dynamic";
  if (const Slot* p = d->slots.find(names().assertion_phase)) {
    if (!p->item.is(What::kBasic) || !p->item.basic.is(Kind::kString))
      return no("sfAssertionPhase is \"static\", \"staticLazy\" or \"dynamic\"");
    when = p->item.basic.text();
  }
  if (when != "dynamic" && when != "static" && when != "staticLazy")
    return no("sfAssertionPhase is \"static\", \"staticLazy\" or \"dynamic\"");
  const Slot* c = d->slots.find(names().function_class);
  if (!c || !c->item.is(What::kBasic) || !c->item.basic.is(Kind::kString))
    return no("an assertion needs the name of its function in sfFunctionClass");
  std::string_view function = c->item.basic.text();
  std::vector<Argument> args;
  bool lazy = false;
  for (u32 i = 0; i < d->slots.size; i++) {
    Symbol key = d->slots.slots[i].key;
    if (key == names().function_class || key == names().assertion_phase) continue;
    Item found;
    Found f = value_of(d, i, found);
    if (f == Found::kLazy) {
      if (when == "static") return no("a static assertion depends on something that is only known at run time");
      lazy = true;
      continue;
    }
    if (f != Found::kYes) return f;
    d->slots.slots[i].item = found;
    args.push_back({key, found});
  }
  if (!lazy) {
    Item result;
    Found f = call(function, args, at, d, result);
    if (f != Found::kYes) return f;
    if (!result.is(What::kBasic) || !result.basic.is(Kind::kBool))
      return no("this assertion does not give true or false");
    if (!result.basic.as_bool()) return no("this assertion does not hold");
  }
  out = item;
  if (when != "dynamic") {
    out.what = What::kTemporary;
    return Found::kYes;
  }
  // Checked again by the running system: it stays as it was written.
  out.lazy = true;
  out.description = kept;
  if (Slot* p = kept->slots.find(names().assertion_phase)) {
    for (Slot* s = p; s + 1 < kept->slots.end(); s++) *s = *(s + 1);
    kept->slots.size--;
    kept->slots.reindex(arena_);
  }
  return Found::kYes;
}

}  // namespace tutti::smartfrog::production
