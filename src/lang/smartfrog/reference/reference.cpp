#include "lang/smartfrog/reference/reference.h"

#include <fmt/format.h>

#include <unordered_set>

#include "tree/show.h"

namespace tutti::smartfrog::reference {
namespace {

V of_store(Store s) { return {true, {}, std::move(s)}; }
V of_basic(Value v) { return {false, v, nullptr}; }

Store cons(Id id, V v, Store rest) { return std::make_shared<const Cell>(Cell{id, std::move(v), std::move(rest)}); }

Ref tail(const Ref& r) { return Ref(r.begin() + 1, r.end()); }

}  // namespace

// A long list is taken apart link by link, not by recursion.
Cell::~Cell() {
  Store next = std::move(rest);
  while (next && next.use_count() == 1) {
    Store after = next->rest;
    const_cast<Cell*>(next.get())->rest = nullptr;
    next = std::move(after);
  }
}

// Definition 7.
Ref concat(const Ref& a, const Ref& b) {
  Ref r = a;
  r.insert(r.end(), b.begin(), b.end());
  return r;
}

// Definition 8.
Ref minus(const Ref& a, const Ref& b) {
  if (a.empty()) return {};
  if (b.empty()) return a;
  if (a[0] == b[0]) return minus(tail(a), tail(b));
  return a;
}

// Definition 9.
bool same(const Ref& a, const Ref& b) {
  if (a.empty() && b.empty()) return true;
  if (a.empty() || b.empty()) return false;
  return a[0] == b[0] && same(tail(a), tail(b));
}

// Definition 10.
bool is_prefix(const Ref& a, const Ref& b) { return minus(a, b).empty(); }
bool is_strict_prefix(const Ref& a, const Ref& b) { return is_prefix(a, b) && !same(a, b); }

// Definition 11.
Ref prefix(const Ref& r) {
  if (r.size() <= 1) return {};
  return Ref(r.begin(), r.end() - 1);
}

// Definition 12.
Store put(const Store& s, Id id, const V& v) {
  if (!s) return cons(id, v, nullptr);
  if (s->id == id) return cons(id, v, s->rest);
  return cons(s->id, s->value, put(s->rest, id, v));
}

// Definition 13.
Store bind(const Store& s, const Ref& r, const V& v, Span at) {
  if (r.empty()) throw Error{3, 13, at};
  if (r.size() == 1) return put(s, r[0], v);
  if (!s) throw Error{2, 13, at};
  if (s->id == r[0]) {
    if (!s->value.is_store) throw Error{1, 13, at};
    return cons(s->id, of_store(reference::bind(s->value.store, tail(r), v, at)), s->rest);
  }
  return cons(s->id, s->value, reference::bind(s->rest, r, v, at));
}

// Definition 14.
Lifted find(const Store& s, const Ref& r) {
  if (r.empty()) return of_store(s);
  if (!s) return std::nullopt;
  if (r.size() == 1) return s->id == r[0] ? Lifted(s->value) : find(s->rest, r);
  if (s->id == r[0]) return s->value.is_store ? find(s->value.store, tail(r)) : std::nullopt;
  return find(s->rest, r);
}

// Definition 15: some non-empty reference into the second store finds the first.
bool is_sub_store(const Store& a, const Store& b) {
  for (const Cell* c = b.get(); c; c = c->rest.get())
    if (c->value.is_store && (c->value.store == a || is_sub_store(a, c->value.store))) return true;
  return false;
}

// Definition 16.
std::pair<Ref, Lifted> resolve(const Store& s, const Ref& ns, const Ref& r) {
  if (ns.empty()) return {{}, find(s, r)};
  Lifted v = find(s, concat(ns, r));
  if (!v) return resolve(s, prefix(ns), r);
  return {ns, v};
}

// Definition 17.
Store copy(const Store& s1, const Store& s2, const Ref& px, Span at) {
  if (!s2) return s1;
  return copy(reference::bind(s1, concat(px, {s2->id}), s2->value, at), s2->rest, px, at);
}

Store merge(const Store& s1, const Store& s2, const Ref& px, Span at) {
  if (!s2) return s1;
  Ref to = concat(px, {s2->id});
  Lifted there = find(s1, to);
  bool both = there && there->is_store && s2->value.is_store;
  Store s = both ? merge(s1, s2->value.store, to, at) : reference::bind(s1, to, s2->value, at);
  return merge(s, s2->rest, px, at);
}

// Definition 18.
Store inherit(const Store& s, const Ref& ns, const Ref& proto, const Ref& r, Span at) {
  auto [found_in, v] = resolve(s, ns, proto);
  if (!v || !v->is_store) throw Error{4, 18, at};
  return copy(s, v->store, r, at);
}

// Definition 20.
Ref Semantics::R(const Reference& r) {
  Ref ids;
  for (const RefPart& p : r.parts) ids.push_back(p.name);
  return ids;
}

// Definition 21.
Value Semantics::Vec(const Expr& e) {
  std::vector<Value> items;
  for (const Expr& item : e.list()) items.push_back(BV(item));
  return TreeBuilder(arena_).list(items);
}

// Definition 22.
Value Semantics::BV(const Expr& e) {
  if (e.kind == ExprKind::kList) return Vec(e);
  if (e.kind != ExprKind::kReference) return e.literal;
  std::string text;
  for (Id id : R(*e.ref)) {
    if (!text.empty()) text += ':';
    text += id.text();
  }
  return Value::reference(arena_.copy(std::string_view(text)));
}

void Semantics::tell(const char* rule, const Ref& r, Span at, const std::string& what, const V& store) {
  if (steps_) steps_->step({rule, written(r), at, what}, [&] { return Steps::Cells{{"store", written(store)}}; });
}

// Definition 23. `m` says that we are within merge( ).
Store Semantics::P(std::span<const Prototype> p, const Ref& ns, const Ref& r, Store s, bool m) {
  if (p.empty()) return s;
  const Prototype& first = p[0];
  if (first.body) {
    s = B(*first.body, r, std::move(s), m || first.merge);
  } else if (first.ref && (m || first.merge)) {
    auto [found_in, v] = resolve(s, ns, R(*first.ref));
    if (!v || !v->is_store) throw Error{4, 18, first.ref->span()};
    s = merge(s, v->store, r, first.ref->span());
    tell("merge (9.3)", r, first.ref->span(), fmt::format("merges what {} holds", written(R(*first.ref))), of_store(s));
  } else if (first.ref) {
    s = inherit(s, ns, R(*first.ref), r, first.ref->span());
    tell("inherit (18)", r, first.ref->span(), fmt::format("copies what {} holds", written(R(*first.ref))),
         of_store(s));
  }
  return P(p.subspan(1), ns, r, std::move(s), m);
}

// Definition 24.
Store Semantics::V_(const Attribute& a, const Ref& ns, const Ref& r, const Store& s, bool m) {
  const Expr& e = a.value;
  if (e.kind == ExprKind::kComponent) {
    Lifted there = m ? find(s, r) : std::nullopt;
    Store emptied = there && there->is_store ? s : reference::bind(s, r, of_store(nullptr), a.name_span());
    tell("V (24)", r, a.name_span(), emptied == s ? "goes on with the store that is there" : "binds the empty store",
         of_store(emptied));
    return P(e.component->prototypes, ns, r, emptied, m);
  }
  if (e.kind == ExprKind::kReference && !e.ref->data) {
    auto [found_in, v] = resolve(s, ns, R(*e.ref));
    if (!v) throw Error{5, 24, e.ref->span()};
    Store linked = reference::bind(s, r, *v, a.name_span());
    tell("V (24)", r, a.name_span(),
         fmt::format("binds what the link {} finds in {}", written(R(*e.ref)),
                     found_in.empty() ? "the root" : written(found_in)),
         of_store(linked));
    return linked;
  }
  V value = of_basic(BV(e));
  Store bound = reference::bind(s, r, value, a.name_span());
  tell("V (24)", r, a.name_span(), fmt::format("binds {}", written(value)), of_store(bound));
  return bound;
}

// Definition 25.
Store Semantics::A(const Attribute& a, const Ref& ns, const Store& s, bool m) {
  return V_(a, ns, concat(ns, Ref(a.path.begin(), a.path.end())), s, m);
}

// Definition 26, the right recursion as a loop.
Store Semantics::B(const Body& b, const Ref& ns, Store s, bool m) {
  for (const Attribute& a : b.attributes) s = A(a, ns, s, m);
  return s;
}

// Definition 27.
V Semantics::SF(const Body& b) {
  const Ref main{Symbol("sfConfig")};
  tell("start", {}, Span(b.begin), "the empty store", of_store(nullptr));
  Lifted v = find(B(b, {}, nullptr, false), main);
  if (!v || !v->is_store) throw Error{7, 27, Span(b.end)};
  tell("SF (27)", main, Span(b.begin), "the result is what sfConfig holds", *v);
  return *v;
}

std::variant<V, Error> evaluate(const Body& spec, Arena& arena, Steps* steps) {
  try {
    return Semantics(arena, steps).SF(spec);
  } catch (const Error& e) {
    if (steps)
      steps->step({fmt::format("err{} ({})", e.number, e.definition), "", e.where, "no rule goes on from here"},
                  [] { return Steps::Cells{}; });
    return e;
  }
}

std::string written(const Ref& r) {
  std::string text;
  for (Id id : r) text += fmt::format("{}{}", text.empty() ? "" : ":", id.text());
  return text;
}

std::string written(const V& v) {
  std::string text;
  if (!v.is_store && v.basic.is(Kind::kList)) {
    for (const Value& item : v.basic.items()) text += fmt::format("{} :: ", written(V{false, item, nullptr}));
    return text + "∅";
  }
  if (!v.is_store) return v.basic.is(Kind::kReference) ? fmt::format("DATA {}", v.basic.text()) : show(v.basic);
  for (const Cell* c = v.store.get(); c; c = c->rest.get())
    text += fmt::format("⟨{}, {}⟩ :: ", c->id.text(), written(c->value));
  return text + "∅";
}

Value to_tree(const V& v, Arena& arena) {
  if (!v.is_store) return v.basic;
  std::vector<Entry> entries;
  for (const Cell* c = v.store.get(); c; c = c->rest.get())
    entries.push_back({c->id, Field::kPlain, to_tree(c->value, arena)});
  return TreeBuilder(arena).map(entries);
}

bool unique_identifiers(const V& v) {
  if (!v.is_store) return true;
  std::unordered_set<Symbol> seen;
  for (const Cell* c = v.store.get(); c; c = c->rest.get())
    if (!seen.insert(c->id).second || !unique_identifiers(c->value)) return false;
  return true;
}

}  // namespace tutti::smartfrog::reference
