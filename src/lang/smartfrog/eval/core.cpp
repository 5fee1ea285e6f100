#include "lang/smartfrog/eval/core.h"

#include <fmt/format.h>

#include "base/near.h"
#include "lang/smartfrog/eval/encode.h"
#include "lang/smartfrog/eval/finish.h"
#include "lang/smartfrog/syntax/lexer.h"
#include "tree/secret.h"

namespace tutti::smartfrog {
namespace {
const Symbol kFailed("error");
const Symbol kConfig("sfConfig");

bool failed(const Slot& s) { return s.store == nullptr && s.value.is(Kind::kError); }
}  // namespace

Symbol reference_symbol(const Reference& r) {
  if (r.parts.size() == 1) return r.parts[0].name;
  std::string text;
  for (const RefPart& p : r.parts) {
    if (!text.empty()) text += ':';
    text += p.name.text();
  }
  return Symbol(text);
}

std::optional<Value> CoreCompiler::run(const Body& spec) {
  std::size_t errors = session_.diagnostics.errors();
  Store* root = stores_.make();
  push_scope(root);
  Frame file;
  file.body = &spec;
  file.target = root;
  file.scopes_before = 1;
  frames_.push_back(file);
  while (!frames_.empty()) {
    Frame& f = frames_.back();
    session_.budget.step();
    if (f.body) {
      if (f.next_attribute < f.body->attributes.size()) {
        evaluate(f.body->attributes[f.next_attribute++]);
      } else {
        end_body(f);
      }
    } else if (f.component && f.next_prototype < f.component->prototypes.size()) {
      step_component();
    } else {
      end_component();
    }
  }
  pop_scopes(1);
  find_watched_rule(root);
  // Definition 27.
  const Slot* s = root->table->find(kConfig);
  if (session_.diagnostics.errors() == errors && (!s || !s->store)) {
    auto& d = session_.diagnostics.error("SF-7", s ? Span(s->placed) : Span(spec.end),
                                         s ? "sfConfig is not a component" : "there is no sfConfig component");
    d.note("definition 27: what a specification means is its component `sfConfig`");
    if (!s) {
      std::vector<Symbol> names;
      for (u32 i = 0; i < root->table->size; i++) names.push_back(root->table->slots[i].key);
      d.did_you_mean(nearest(kConfig, names).text());
    }
  }
  auto ended = [&] { return session_.diagnostics.errors() != errors && !partial; };
  if (ended() || !s || !s->store) return std::nullopt;
  if (warn_about_order) order_.report(session_);
  Finisher finisher(session_);
  Value result = finisher.finish(*s);
  if (ended()) return std::nullopt;
  if (secrets_) result = spread_secrets(result, session_.builder());
  return has_references_ ? result : result.with_tag(plain_tag());
}

void CoreCompiler::push_scope(Store* s) {
  scopes_.push_back(s);
  s->scope = static_cast<u32>(scopes_.size());
}

void CoreCompiler::pop_scopes(u32 count) {
  while (count-- > 0) {
    scopes_.back()->scope = 0;
    scopes_.pop_back();
  }
}

// ---- assignments (definitions 24 and 25)

void CoreCompiler::evaluate(const Attribute& a) {
  switch (a.value.kind) {
    case ExprKind::kLiteral:
      bind(a, a.value.literal, nullptr, a.value.begin);
      note_event(a.placement() ? CoreEvent::What::kPlaced : CoreEvent::What::kWritten, a.begin, {});
      return;
    case ExprKind::kComponent: start_component(a); return;
    case ExprKind::kReference:
      if (!a.value.ref->data) {
        const Reference& r = *a.value.ref;
        Found found = resolve(static_cast<u32>(scopes_.size()), r);
        if (!found.slot) {
          if (!found.silent)
            missing("SF-5", r, "there is no `{}` to take the value of",
                    "definition 24: the value that a link refers to must exist");
          bind(a, Value::error("could not be evaluated", kFailed, a.begin), nullptr, {});
          return;
        }
        Origin origin =
            session_.origins.add(How::kReferenced, r.begin, found.slot->value.origin(), {}, reference_symbol(r));
        Value value = found.slot->value;
        Store* store = found.slot->store ? share(found.slot->store) : nullptr;
        bind(a, value, store, origin);
        note_event(CoreEvent::What::kLinked, r.begin, reference_symbol(r));
        return;
      }
      [[fallthrough]];
    default: bind(a, basic(a.value), nullptr, a.value.begin);
  }
  note_event(a.placement() ? CoreEvent::What::kPlaced : CoreEvent::What::kWritten, a.begin, {});
}

Value CoreCompiler::basic(const Expr& e) {
  if (e.kind == ExprKind::kReference) {
    has_references_ = true;
    return Value::reference(reference_symbol(*e.ref).text(), e.begin);
  }
  if (e.kind != ExprKind::kList) return e.literal;
  std::vector<Value> items;
  items.reserve(e.count);
  for (const Expr& item : e.list()) items.push_back(basic(item));
  return session_.builder().list(items, e.begin);
}

// The store that the last part of the name is put in (definition 13). nullptr after an error.
Store* CoreCompiler::parent_of(const Attribute& a, Store* from, bool push_scopes) {
  Store* s = from;
  for (std::size_t i = 0; i + 1 < a.path.size(); i++) {
    Slot* slot = stores_.own(s)->find(a.path[i]);
    if (!slot || !slot->store) {
      if ((!slot && s->incomplete) || (slot && failed(*slot))) return nullptr;
      auto where = a.name_span();
      if (!slot) {
        std::vector<Symbol> names;
        for (u32 k = 0; k < s->table->size && k < 1000; k++) names.push_back(s->table->slots[k].key);
        session_.diagnostics
            .error("SF-2", where,
                   fmt::format("there is no component `{}` to place `{}` in", a.path[i].text(), a.name().text()))
            .note("definition 13: a placement goes into a component that exists already; it does not search outwards")
            .did_you_mean(nearest(a.path[i], names).text());
      } else {
        session_.diagnostics
            .error("SF-1", where, fmt::format("`{}` is not a component: nothing can be placed in it", a.path[i].text()))
            .relate(session_.origins.written(slot->value.origin()), "it got its value here")
            .note("definition 13: the parent of what is placed must be a component");
      }
      return nullptr;
    }
    s = stores_.writable(slot);
    if (push_scopes) push_scope(s);
  }
  return s;
}

Slot* CoreCompiler::set(Store* parent, const Attribute& a, const Value& value, Store* store, Origin origin) {
  bool added;
  Slot* slot = stores_.put(parent, a.name(), added);
  Origin before = added ? Origin{} : slot->value.origin();
  if (added) slot->placed = a.begin;
  if (a.placement())
    origin = session_.origins.add(How::kPlaced, a.begin, origin, before);
  else if (!added)
    origin = session_.origins.add(How::kOverridden, a.begin, origin, before);
  // The mark of a secret goes wherever the value goes, and stays where another value comes in its place.
  bool secret = value.secret() || (!added && slot->value.secret()) ||
                std::find(a.tags.begin(), a.tags.end(), secret_tag()) != a.tags.end();
  slot->store = store;
  slot->value = (store ? Value::null() : value).with_origin(origin);
  if (secret) slot->value = slot->value.as_secret();
  secrets_ = secrets_ || secret;
  return slot;
}

void CoreCompiler::bind(const Attribute& a, const Value& value, Store* store, Origin origin) {
  Frame& f = frames_.back();
  Store* parent = parent_of(a, f.target, false);
  if (!parent) return;
  if (!a.placement() && f.inherited && warn_about_order) {
    const Slot* old = f.target->table->find(a.name());
    check_order(f, a, old, old == nullptr);
  }
  set(parent, a, value, store, origin);
}

// ---- components and prototypes (definitions 18, 23 and 24)

void CoreCompiler::start_component(const Attribute& a) {
  u32 scopes = static_cast<u32>(scopes_.size());
  Frame& outer = frames_.back();
  if (!a.placement() && outer.inherited && warn_about_order) {
    const Slot* old = outer.target->table->find(a.name());
    check_order(outer, a, old, old == nullptr);
  }
  Store* parent = parent_of(a, outer.target, true);
  if (!parent) {
    pop_scopes(static_cast<u32>(scopes_.size()) - scopes);
    return;
  }
  if (scopes_.size() >= session_.budget.limits().depth) session_.budget.too_deep(a.begin.at);
  Store* target = nullptr;
  bool merging = outer.merging;
  if (merging) {
    Slot* there = stores_.own(parent)->find(a.name());
    if (there && there->store) target = stores_.writable(there);
  }
  if (!target) {
    target = stores_.make();
    set(parent, a, {}, target, a.begin);
    note_event(CoreEvent::What::kEmptied, a.begin, {});
  }
  push_scope(target);
  Frame f;
  f.component = a.value.component;
  f.attribute = &a;
  f.scopes_before = scopes;
  f.target = target;
  f.merging = merging;
  f.inherited = merging;
  frames_.push_back(f);
}

void CoreCompiler::step_component() {
  Frame& f = frames_.back();
  const Prototype& p = f.component->prototypes[f.next_prototype++];
  if (p.ref) {
    inherit(f, p);
  } else if (p.body) {
    f.body = p.body;
    f.next_attribute = 0;
    f.highest = 0;
    if (p.merge) f.merging = true;
  }
}

void CoreCompiler::replace_orders(Store* s, std::span<const OrderRule> orders) {
  if (orders.empty()) return;
  order_.replace(s->table->orders, orders);
  stores_.own(s)->orders = orders;
}

void CoreCompiler::end_body(Frame& f) {
  replace_orders(f.target, f.body->orders);
  f.body = nullptr;
  if (f.component) {
    f.merging = f.attribute && frames_.size() > 1 && frames_[frames_.size() - 2].merging;
    f.inherited = true;  // a later block of the list follows what this one set
  }
}

void CoreCompiler::end_component() {
  Frame f = frames_.back();
  frames_.pop_back();
  if (!f.component) return;  // the file
  if (f.origin) {
    Store* parent = scopes_[scopes_.size() - 2];
    if (Slot* slot = parent->table->find(f.attribute->name())) slot->value = slot->value.with_origin(f.origin);
  }
  pop_scopes(static_cast<u32>(scopes_.size()) - f.scopes_before);
}

void CoreCompiler::inherit(Frame& f, const Prototype& p) {
  const Reference& r = *p.ref;
  Found found = resolve(f.scopes_before, r);
  if (!found.store) {
    if (found.slot && !failed(*found.slot)) {
      session_.diagnostics
          .error("SF-4", r.span(),
                 fmt::format("`{}` is not a component: it cannot be a prototype", reference_symbol(r).text()))
          .relate(session_.origins.written(found.slot->value.origin()), "it got its value here")
          .note("definition 18: a prototype must be a component");
    } else if (!found.slot && !found.silent) {
      missing("SF-4", r, "there is no component `{}` to extend",
              "definition 18: a prototype must exist where it is used");
    }
    f.target->incomplete = true;
    return;
  }
  f.origin = session_.origins.add(How::kInherited, r.begin, found.slot->value.origin(), f.origin, reference_symbol(r));
  if (p.merge || f.merging) {
    merge(f.target, found.store);
  } else {
    copy(f.target, found.store);
  }
  f.inherited = true;
  note_event(CoreEvent::What::kInherited, r.begin, reference_symbol(r));
}

// Definition 17. The prototype may be the target itself, hold it, or be held by it; it is copied as it was before.
void CoreCompiler::copy(Store* to, Store* from) {
  if (to == from) return;
  to->incomplete |= from->incomplete;
  if (to->table->size == 0 && from->scope == 0) {
    std::span<const OrderRule> orders = to->table->orders;
    stores_.adopt(to, from);
    if (to->table->orders.empty() && !orders.empty()) stores_.own(to)->orders = orders;
    return;
  }
  Store* source = from->scope ? snapshot(from) : from;
  Table* t = source->table;
  replace_orders(to, t->orders);
  session_.budget.step(t->size);
  for (u32 i = 0; i < t->size; i++) {
    bool added;
    const Slot& s = t->slots[i];
    if (s.store) s.store->shared = true;
    Slot* slot = stores_.put(to, s.key, added);
    if (added) slot->placed = s.placed;
    slot->store = s.store;
    slot->value = s.value;
  }
}

// As copy, but a sub-store that meets a sub-store is composed with it (section 9.3).
void CoreCompiler::merge(Store* to, Store* from) {
  if (to == from) return;
  std::vector<std::pair<Store*, Store*>> work{{to, from->scope ? snapshot(from) : from}};
  while (!work.empty()) {
    auto [target, source] = work.back();
    work.pop_back();
    target->incomplete |= source->incomplete;
    Table* t = source->table;
    replace_orders(target, t->orders);
    session_.budget.step(t->size + 1);
    for (u32 i = 0; i < t->size; i++) {
      bool added;
      const Slot& s = t->slots[i];
      if (s.store) s.store->shared = true;
      Slot* slot = stores_.put(target, s.key, added);
      if (!added && slot->store && s.store) {
        if (slot->store != s.store) work.push_back({stores_.writable(slot), s.store});
        continue;
      }
      if (added) slot->placed = s.placed;
      slot->store = s.store;
      slot->value = s.value;
    }
  }
}

// A store that will be held by a second slot.
Store* CoreCompiler::share(Store* s) {
  if (s->scope) return snapshot(s);
  s->shared = true;
  return s;
}

// A component that is being defined, as it is now. It and those inside it that are being defined too go on changing, so
// the copy gets tables of its own down that path.
Store* CoreCompiler::snapshot(Store* s) {
  Store* top = nullptr;
  Slot* hole = nullptr;
  for (u32 depth = s->scope; depth <= scopes_.size(); depth++) {
    Store* original = scopes_[depth - 1];
    Store* next = depth < scopes_.size() ? scopes_[depth] : nullptr;
    Store* twin = stores_.make();
    Table* from = original->table;
    Table* t = twin->table;
    t->orders = from->orders;
    twin->incomplete = original->incomplete;
    session_.budget.step(from->size + 1);
    Slot* hole_next = nullptr;
    Symbol hole_key;
    for (u32 i = 0; i < from->size; i++) {
      bool added;
      Slot* slot = stores_.put(twin, from->slots[i].key, added);
      *slot = from->slots[i];
      if (!slot->store) continue;
      if (slot->store == next)
        hole_key = slot->key;
      else
        slot->store->shared = true;
    }
    if (next) hole_next = twin->table->find(hole_key);
    if (hole)
      hole->store = twin;
    else
      top = twin;
    if (!hole_next) break;
    hole = hole_next;
  }
  top->shared = true;
  return top;
}

// ---- references (definitions 14 and 16)

CoreCompiler::Found CoreCompiler::find(Store* from, const Reference& r, bool& silent) const {
  Store* s = from;
  const std::size_t n = r.parts.size();
  for (std::size_t i = 0; i < n; i++) {
    const Slot* slot = s->table->find(r.parts[i].name);
    if (!slot) {
      silent |= s->incomplete;
      return {};
    }
    if (i + 1 == n) return {slot->store, slot, false};
    if (!slot->store) {
      silent |= failed(*slot);
      return {};
    }
    s = slot->store;
  }
  return {};
}

CoreCompiler::Found CoreCompiler::resolve(u32 scopes, const Reference& r) {
  bool silent = false;
  for (u32 i = scopes; i > 0; i--) {
    Found f = find(scopes_[i - 1], r, silent);
    if (f.slot) return f;
  }
  session_.budget.step(scopes);
  return {nullptr, nullptr, silent};
}

void CoreCompiler::missing(const char* code, const Reference& r, std::string message, std::string_view definition) {
  auto& d = session_.diagnostics.error(code, r.span(), fmt::format(fmt::runtime(message), reference_symbol(r).text()));
  if (session_.diagnostics.left_out() > 0) return;  // nobody will see what is said of it
  d.note(std::string(definition));
  std::vector<Symbol> names;
  for (std::size_t i = scopes_.size(); i > 0 && names.size() < 1000; i--) {
    const Table* t = scopes_[i - 1]->table;
    for (u32 k = 0; k < t->size && names.size() < 1000; k++)
      if (t->slots[k].key != r.parts[0].name) names.push_back(t->slots[k].key);
  }
  if (is_production_word(r.parts[0].name.text())) {
    d.suggest(fmt::format("`{}` is more than a name only at --level production", r.parts[0].name.text()));
    return;
  }
  bool silent = false;
  Reference head = r;
  head.parts = r.parts.first(1);
  bool known = false;
  for (std::size_t i = scopes_.size(); i > 0 && !known; i--) known = find(scopes_[i - 1], head, silent).slot != nullptr;
  if (!known) d.did_you_mean(nearest(r.parts[0].name, names).text());
}

// A block that sets an attribute which stands further in front than one the block has set before.
void CoreCompiler::check_order(Frame& f, const Attribute& a, const Slot* slot, bool added) {
  const Table* t = f.target->table;
  u32 position = added ? t->size + 1 : static_cast<u32>(slot - t->slots) + 1;
  if (position >= f.highest) {
    f.highest = position;
    return;
  }
  if (f.highest > t->size) return;
  // A name set twice in the same block is no surprise.
  if (slot->placed >= f.body->begin && slot->placed <= f.body->end) return;
  const Slot& other = t->slots[f.highest - 1];
  order_.add(f.body->orders.empty() ? t->orders : f.body->orders, a.name(), other.key, a.begin, slot->placed,
             other.placed);
}

// ---- for `tutti why`

void CoreCompiler::find_watched_rule(const Store* root) {
  const Store* s = root;
  for (std::size_t i = 0; s && i < watched_.size(); i++) {
    if (i + 1 == watched_.size()) watched_rule_ = rule_about(s->table->orders, watched_[i]);
    const Slot* slot = s->table->find(watched_[i]);
    s = slot ? slot->store : nullptr;
  }
}

void CoreCompiler::note_event(CoreEvent::What what, Pos at, Symbol from) {
  if (watched_.empty()) return;
  // The attribute is there or not; that, and by whom it was set last, is all that matters here.
  const Store* s = scopes_[0];
  const Slot* slot = nullptr;
  for (Symbol key : watched_) {
    slot = s ? s->table->find(key) : nullptr;
    if (!slot) break;
    s = slot->store;
  }
  bool there = slot != nullptr;
  bool was = watched_there_;
  watched_there_ = there;
  if (!there) {
    if (was) events_.push_back({CoreEvent::What::kGone, at, from, false});
    return;
  }
  if (!was) events_.clear();  // what was there before went with what it was in
  Origin now = slot->value.origin();
  watched_placed_ = slot->placed;
  if (was && now == watched_origin_) return;
  watched_origin_ = now;
  events_.push_back({what, at, from, !was});
}

}  // namespace tutti::smartfrog
