#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lang/puppet/syntax/ast.h"
#include "tree/steps.h"

// The small-step semantics of muPuppet ("muPuppet: A Declarative Subset of the Puppet Configuration Language", ECOOP
// 2017), rule by rule and slow: terms are rewritten one step at a time. Each rule of the paper is named where it is
// applied. It is what the compiler is compared with on random manifests; it shares nothing with it but the parser.
//
// Variables are strict, as in the paper: reading one that is not set makes the term stuck, which is an error here. So
// is an inheritance cycle, for which the rules step for ever.
//
// One rule is not as printed: CDECPD records the *parent class's parent* as the scope of a class declared with
// parameters, which would hide the variables it inherits, unlike INCPD, unlike figure 4 and unlike Puppet. Here it
// records ::b, as INCPD does.
namespace tutti::puppet::mu {

struct Expr;
struct Stmt;
using E = std::shared_ptr<const Expr>;
using S = std::shared_ptr<const Stmt>;
using Hash = std::vector<std::pair<std::string, E>>;

enum class Ek : u8 {
  kInt,
  kString,
  kBool,
  kVar,
  kTopVar,
  kClassVar,
  kBinary,
  kNot,
  kHash,
  kArray,
  kDeref,
  kSelector,
  kRef
};

struct Expr {
  Ek kind = Ek::kInt;
  i64 integer = 0;
  bool boolean = false;
  std::string text;     // string; variable; operator; resource type of t[e]
  std::string cls;      // $::a::x: a
  std::vector<E> kids;  // operands; array items; d[e]
  Hash hash;
  std::vector<std::pair<E, E>> matches;  // selector: case (nullptr is default) => expression
};

enum class Sk : u8 {
  kSkip,
  kExpr,
  kSeq,
  kAssign,
  kUnless,
  kIf,
  kCase,
  kResource,
  kDefined,
  kClassDecl,
  kInclude,
  kScope
};

struct Stmt {
  Sk kind = Sk::kSkip;
  E expr;            // also titles
  std::string name;  // variable, type, class, scope
  Hash hash;
  Pos at;                              // where it is written; none of what rules make
  S first, second;                     // seq; if/else; unless; scope
  std::vector<std::pair<E, S>> cases;  // nullptr: default
};

struct Param {
  std::string name;
  E value;  // nullptr: required
};

struct Def {  // D
  enum Kind : u8 { kClassDef, kDeclaredClass, kResourceDef } kind = kClassDef;
  std::string parent;  // ClassDef: c_opt, "" for none; DeclaredClass: the parent scope
  std::vector<Param> params;
  S body;
};

struct Item {  // m
  enum Kind : u8 { kStmt, kNode, kDefine, kClass } kind = kStmt;
  S body;
  std::string name, parent;
  std::vector<Param> params;
  std::vector<std::string> hosts;  // "default" for default
  Pos at;
};
using Manifest = std::vector<Item>;

struct ResourceValue {
  std::string type, title;
  std::vector<std::pair<std::string, std::string>> attributes;  // values as the language writes them
  Hash values;
};

// Where and by which rules the last step went: the rule that did something first, then those of the paper whose
// premise it was (ASSIGNSTEP, SCOPESTEP, TOPSCOPE). Rules in small letters are those of the extended paper's appendix.
struct Redex {
  std::vector<const char*> rules;
  Pos at;
  std::string scope;
  std::string what;  // what it did
};

struct State {
  mutable Redex redex;
  std::map<std::string, std::map<std::string, E>> sigma;  // scope -> variable -> value
  std::map<std::string, Def> kappa;
  std::vector<ResourceValue> catalog;
  std::set<const Expr*> facts;  // for who watches: the values of sigma that were there from the start
};

// No rule applies.
struct Stuck {
  std::string why;
  Pos at = {};
};

// What is not in the subset.
struct Outside {
  std::string what;
  Pos at;
};

// From our syntax; throws Outside.
Manifest from_syntax(const Program& program);

std::string show(const Expr& e);                  // also of what is no value yet
std::string show(const Stmt& s);                  // in one line
std::string as_reference(std::string_view type);  // a::b as references write it: A::B
std::string show(const Def& d);
bool is_value(const Expr& e);

// One step of each judgement. nullopt: the term is a value, or skip.
std::optional<E> step(const State& state, const std::string& scope, const E& e);
std::optional<S> step(State& state, const std::string& scope, const S& s);
std::optional<Manifest> step(State& state, const std::string& node, const Manifest& m);

// Runs to the end, or throws Stuck. `watch` sees every state.
State run(Manifest m, const std::string& node, State start,
          const std::function<void(const State&, const State&)>& watch = {}, Steps* steps = nullptr);

// The whole manifest as it stands, its first item in full.
std::string show(const Manifest& m);

}  // namespace tutti::puppet::mu
