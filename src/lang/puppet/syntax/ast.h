#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/symbol.h"
#include "text/source.h"

namespace tutti::puppet {

// The syntax tree of a manifest. Nodes live in an arena, never change after parsing and hold no pointer to anything but
// syntax, so that one parsed file serves all nodes of a site in all threads.
enum class NodeKind : u8 {
  kNop,
  kUndef,
  kDefault,
  kBoolean,     // Literal
  kInteger,     // Literal
  kFloat,       // Literal
  kString,      // Literal
  kRegex,       // Literal
  kConcat,      // Kids: an interpolated string
  kName,        // Named: a bare word, which is a string
  kTypeName,    // Named: a capitalised word
  kVariable,    // Named
  kReserved,    // Named
  kArray,       // Kids
  kHash,        // Kids: key, value, key, value, ...
  kParen,       // Unary
  kNot,         // Unary
  kNegate,      // Unary
  kSplat,       // Unary
  kBinary,      // Binary: arithmetic, comparison, logic, match, in, <<
  kAssign,      // Binary: = += -=
  kRelation,    // Binary: -> ~> <- <~
  kAccess,      // Kids: the thing, then the keys
  kSelector,    // Select
  kCase,        // Select
  kIf,          // If
  kBlock,       // Kids: statements
  kCall,        // Call
  kMethodCall,  // Call: the receiver is the first argument
  kLambda,      // Lambda
  kResource,    // ResourceDecl
  kDefaults,    // ResourceDecl with one body and no title: File { ... }
  kOverride,    // ResourceDecl with one body and no title: File['x'] { ... }
  kCollect,     // Collect
  kClass,       // Definition
  kDefine,      // Definition
  kFunction,    // Definition
  kNodeDef,     // Definition
  kTypeAlias,   // Definition
  kTypeDef,     // Definition: `type X { ... }`, which is not supported
  kRenderText,  // Literal: EPP text
  kRender,      // Unary: EPP expression
};

enum class Op : u8 {
  kNone,
  kPlus,
  kMinus,
  kTimes,
  kDiv,
  kModulo,
  kLShift,
  kRShift,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
  kMatch,
  kNoMatch,
  kIn,
  kAssign,
  kAppend,
  kDelete,
  kBefore,     // ->
  kNotify,     // ~>
  kAfter,      // <-
  kSubscribe,  // <~
};
std::string_view op_text(Op op);

struct Node {
  NodeKind kind = NodeKind::kNop;
  Op op = Op::kNone;
  Pos begin, end;
  Span span() const { return {begin, end}; }
};

struct Literal : Node {
  std::string_view text;  // of strings, regular expressions and EPP text
  union {
    i64 integer = 0;
    double real;
    bool boolean;
  };
};

struct Named : Node {
  Symbol name;            // variables: as written, without $; names and type names without a leading ::
  Symbol scope;           // variables: everything before the last ::, without a leading :: ; empty for $x and $::x
  Symbol local;           // variables: the last segment
  bool absolute = false;  // began with ::
  i32 capture = -1;       // $0, $1, ...: the group of the last match
};

struct Unary : Node {
  const Node* expr = nullptr;
};

struct Binary : Node {
  const Node* left = nullptr;
  const Node* right = nullptr;
};

struct Kids : Node {
  std::span<const Node* const> items;
};

struct Option {
  std::span<const Node* const> values;  // one for selectors
  const Node* result = nullptr;
};

struct Select : Node {
  const Node* value = nullptr;
  std::span<const Option> options;
};

struct If : Node {
  bool unless = false;
  const Node* test = nullptr;
  const Node* yes = nullptr;  // may be nullptr
  const Node* no = nullptr;   // may be nullptr
};

struct Param {
  Symbol name;
  const Node* type = nullptr;
  const Node* value = nullptr;
  bool rest = false;  // *$x
  Pos begin;
};

struct Lambda : Node {
  std::span<const Param> params;
  const Node* returns = nullptr;
  const Node* body = nullptr;
};

struct Call : Node {
  Symbol name;  // empty when `callee` is an expression (Type(...), $x(...))
  const Node* callee = nullptr;
  std::span<const Node* const> args;
  const Lambda* block = nullptr;
  bool statement = false;  // its value is not used
  Pos name_at;             // of a method: where its name is, which may be lines below the receiver
};

struct Attribute {
  Symbol name;       // empty for `* => hash`
  bool add = false;  // +>
  const Node* value = nullptr;
  Pos begin;
};

struct Body {
  const Node* title = nullptr;
  std::span<const Attribute> attributes;
  Pos begin;
};

enum class Form : u8 { kRegular, kVirtual, kExported };

struct ResourceDecl : Node {
  Form form = Form::kRegular;
  const Node* type = nullptr;
  std::span<const Body> bodies;
};

struct Collect : Node {
  bool exported = false;
  const Node* type = nullptr;
  const Node* query = nullptr;  // nullptr: everything
  std::span<const Attribute> attributes;
};

struct Definition : Node {
  Symbol name;  // full, without a leading ::
  std::span<const Param> params;
  const Node* body = nullptr;          // for a type alias: the type expression
  Symbol parent;                       // class a inherits b
  const Node* returns = nullptr;       // functions
  std::span<const Node* const> hosts;  // nodes: strings, regular expressions, default
  const Source* source = nullptr;
};

// One parsed file.
struct Program {
  const Source* source = nullptr;
  const Node* body = nullptr;                  // never nullptr
  std::vector<const Definition*> definitions;  // all of the file, nested ones included, in order
  struct Heredoc {
    std::string_view syntax;
    const Literal* text;
  };
  std::vector<Heredoc> heredocs;  // literal ones whose syntax was named, to be checked
  bool epp = false;
  bool epp_params = false;        // EPP: had a parameter list, even an empty one
  std::span<const Param> params;  // EPP
  bool ok = false;                // no syntax error
};

template <class T>
const T& as(const Node* n) {
  return *static_cast<const T*>(n);
}

}  // namespace tutti::puppet
