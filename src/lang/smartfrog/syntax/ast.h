#pragma once

#include <span>

#include "lang/smartfrog/syntax/token.h"
#include "text/source.h"
#include "tree/value.h"

// What the parser makes: flat nodes in the session's arena, never changed afterwards. The same nodes serve the
// reference, the core compiler and the production compiler. Includes are already followed: their attributes stand in
// the list that included them, with the places of their own file.
namespace tutti::smartfrog {

struct Expr;
struct Component;
struct Body;

enum class Part : u8 {
  kAttrib,  // a word at the beginning, or ATTRIB w: searched outwards
  kHere,    // a word later on, or HERE w: this component only
  kParent,
  kRoot,
  kThis,
  kHost,
  kProcess,
  kProperty,
  kIntProperty,
  kEnvProperty,
  kIntEnvProperty,
  kConstant,
};

struct RefPart {
  Part kind = Part::kAttrib;
  Symbol name;
};

struct Reference {
  std::span<const RefPart> parts;
  Pos begin, end;
  bool lazy = false, data = false, optional = false;
  const Expr* otherwise = nullptr;  // OPTIONAL(otherwise)

  Span span() const { return {begin, end}; }
};

enum class ExprKind : u8 {
  kNothing,  // `marker;`: an attribute without a value
  kLiteral,  // scalars, strings, bytes: `literal`
  kTbd,
  kReference,  // `ref`
  kComponent,  // `component`
  kList,       // [a, b] of the core and [| a, b |]: data only; `items`
  kVector,     // [a, b] of the production language: a function of its elements
  kOperator,   // `op` and `items`
  kIf,         // items: condition, then, else
  kSwitch,     // items: number, condition, value for each case; `body` holds the local bindings, if any
  kApply,      // APPLY { body }
  kAssert,     // ASSERT { body }
  kVar,
};

struct Expr {
  ExprKind kind = ExprKind::kNothing;
  Tok op = Tok::kEnd;
  bool lazy = false, data = false;  // of kApply and kAssert
  u32 count = 0;                    // of items
  u32 unique = 0;                   // the first of the numbers given to its unnamed arguments
  Pos begin, end;
  Value literal;
  union {
    const Reference* ref = nullptr;
    const Component* component;
    const Expr* items;
  };
  const Body* body = nullptr;

  Span span() const { return {begin, end}; }
  std::span<const Expr> list() const { return {items, count}; }
};

// `[sfSecret] pw "..."`: shown nowhere.
inline Symbol secret_tag() {
  static const Symbol tag("sfSecret");
  return tag;
}

// `R V`. A name of several parts is a placement.
struct Attribute {
  std::span<const Symbol> path;
  Pos begin, name_end;
  std::span<const Symbol> tags;
  Expr value;

  Symbol name() const { return path.back(); }
  bool placement() const { return path.size() > 1; }
  Span name_span() const { return {begin, name_end}; }
};

// `order a < b < c;` (figure 19 of the paper).
struct OrderRule {
  std::span<const Symbol> names;
  Pos begin, end;
};

struct Body {
  std::span<const Attribute> attributes;
  std::span<const OrderRule> orders;
  Pos begin, end;
};

// One of the things after `extends`: a name, a block, or NULL (neither).
struct Prototype {
  const Reference* ref = nullptr;
  const Body* body = nullptr;
  bool merge = false;  // merge(P): sub-components are composed too (section 9.3)
};

struct Component {
  std::span<const Prototype> prototypes;
  bool data = false;  // extends DATA, extends LAZY
  Symbol node_class;  // extends:class
  Pos begin, end;
};

}  // namespace tutti::smartfrog
