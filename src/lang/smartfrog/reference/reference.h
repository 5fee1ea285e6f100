#pragma once

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "lang/smartfrog/syntax/ast.h"
#include "tree/session.h"
#include "tree/steps.h"

// The published semantics of core SmartFrog (Anderson and Herry, "A Formal Semantics for the SmartFrog Configuration
// Language"), one function for each definition, in the paper's order and by the paper's names. Slow and literal: stores
// are lists. Used to check the compiler, and by --reference.
//
// Where the paper is misprinted the evident meaning is taken: the last clause of definition 8 gives id1::r1; the third
// of definition 11 gives r; definition 15 takes two stores; definition 25 means R[[R]] by r.
namespace tutti::smartfrog::reference {

// Definition 4 and 5.
using Id = Symbol;
using Ref = std::vector<Id>;

// Definition 6: a store is a list of pairs; nullptr is the empty one.
struct Cell;
using Store = std::shared_ptr<const Cell>;

// A value: basic (the common tree's scalars, lists and references) or a store. std::nullopt is the undefined value.
struct V {
  bool is_store = false;
  Value basic;
  Store store;
};
using Lifted = std::optional<V>;

struct Cell {
  Id id;
  V value;
  Store rest;
  ~Cell();
};

// The errors of section 6, with the definition that raised them and the place that was being evaluated.
struct Error {
  int number;
  int definition;
  Span where;
};

// Definitions 7 to 11.
Ref concat(const Ref& a, const Ref& b);
Ref minus(const Ref& a, const Ref& b);
bool same(const Ref& a, const Ref& b);
bool is_prefix(const Ref& a, const Ref& b);
bool is_strict_prefix(const Ref& a, const Ref& b);
Ref prefix(const Ref& r);

// Definitions 12 to 18. `at` is only for errors.
Store put(const Store& s, Id id, const V& v);
Store bind(const Store& s, const Ref& r, const V& v, Span at);
Lifted find(const Store& s, const Ref& r);
bool is_sub_store(const Store& a, const Store& b);
std::pair<Ref, Lifted> resolve(const Store& s, const Ref& ns, const Ref& r);
Store copy(const Store& s1, const Store& s2, const Ref& px, Span at);
Store inherit(const Store& s, const Ref& ns, const Ref& proto, const Ref& r, Span at);

// Not in the paper: composition of sub-stores too, which section 9.3 discusses.
Store merge(const Store& s1, const Store& s2, const Ref& px, Span at);

// Definitions 19 to 27. Terminal symbols (19) are evaluated by the parser already.
// `steps`, where there is one, is told each change of the store.
class Semantics {
 public:
  explicit Semantics(Arena& arena, Steps* steps = nullptr) : arena_(arena), steps_(steps) {}

  Ref R(const Reference& r);                                                            // 20
  Value Vec(const Expr& e);                                                             // 21
  Value BV(const Expr& e);                                                              // 22
  Store P(std::span<const Prototype> p, const Ref& ns, const Ref& r, Store s, bool m);  // 23
  Store V_(const Attribute& a, const Ref& ns, const Ref& r, const Store& s, bool m);    // 24
  Store A(const Attribute& a, const Ref& ns, const Store& s, bool m);                   // 25
  Store B(const Body& b, const Ref& ns, Store s, bool m);                               // 26
  V SF(const Body& b);                                                                  // 27

 private:
  void tell(const char* rule, const Ref& r, Span at, const std::string& what, const V& store);

  Arena& arena_;
  Steps* steps_;
};

// SF[[B]], or the error that it ends with.
std::variant<V, Error> evaluate(const Body& spec, Arena& arena, Steps* steps = nullptr);

// A store as the paper writes it: ⟨a, ⟨c, 3⟩ :: ∅⟩ :: ∅
std::string written(const V& v);
std::string written(const Ref& r);  // a:b

// As a value of the common tree.
Value to_tree(const V& v, Arena& arena);

// True when the store and all stores in it have each identifier once (theorem 2).
bool unique_identifiers(const V& v);

}  // namespace tutti::smartfrog::reference
