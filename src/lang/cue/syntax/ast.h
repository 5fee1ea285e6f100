#pragma once

#include <span>
#include <string_view>

#include "base/arena.h"
#include "base/symbol.h"
#include "lang/cue/syntax/token.h"

// The syntax tree of a CUE file: everything that was written, comments and line breaks included, so that a formatter
// can print it back. Nodes are plain structs in an arena; `kind` says which one a Node is.
namespace tutti::cue::ast {

struct Comment {
  TokenPos slash;
  std::string_view text;  // from the `//`, without the end of line
};

// Comments on adjacent lines, attached to a node at a position: 0 before it, n after its n-th token or child; see
// Parser.
struct CommentGroup {
  std::span<Comment> list;
  bool doc = false;   // ends on the line before the node
  bool line = false;  // on the line on which the node ends
  signed char position = 0;
  Rel rel() const { return list.empty() ? Rel::kNone : list[0].slash.rel; }
};

enum class Kind : u8 {
  // expressions
  kBad,
  kBottom,
  kIdent,
  kLit,
  kInterpolation,
  kFunc,
  kStruct,
  kList,
  kEllipsis,
  kComprehension,
  kParen,
  kSelector,
  kIndex,
  kSlice,
  kCall,
  kUnary,
  kBinary,
  kPostfix,
  kAlias,
  // clauses
  kFor,
  kIfClause,
  kLet,
  kTryClause,
  kFallbackClause,
  // declarations
  kField,
  kEmbed,
  kAttribute,
  kPackage,
  kImport,
  kImportSpec,
  kBadDecl,
  kPostfixAlias,
  kFile,
};

struct Comments {
  CommentGroup* groups = nullptr;
  u32 size = 0, capacity = 0;
  std::span<CommentGroup> all() const { return {groups, size}; }
};

struct Node {
  Comments* notes = nullptr;
  Kind kind;  // last, so that what derives begins right behind it
  explicit Node(Kind k) : kind(k) {}
  std::span<CommentGroup> comments() const { return notes ? notes->all() : std::span<CommentGroup>{}; }
};

using Nodes = std::span<Node*>;

// The place of a node's first token. Constant time for operators, selectors and calls, however long the chain.
Pos start(const Node* n);

struct Bad : Node {
  TokenPos from, to;
  Bad(TokenPos f, TokenPos t, Kind k = Kind::kBad) : Node(k), from(f), to(t) {}
};
struct Bottom : Node {
  TokenPos pos;
  explicit Bottom(TokenPos p) : Node(Kind::kBottom), pos(p) {}
};
struct Ident : Node {
  TokenPos pos;
  Symbol name;
  Ident(TokenPos p, Symbol n) : Node(Kind::kIdent), pos(p), name(n) {}
};
// A literal as written; parts of an interpolation include the `\(` and `)` beside them.
struct Lit : Node {
  Tok tok;  // kInt kFloat kString kTrue kFalse kNull
  TokenPos pos;
  std::string_view text;
  Lit(Tok k, TokenPos p, std::string_view t) : Node(Kind::kLit), tok(k), pos(p), text(t) {}
};
struct Interpolation : Node {
  Nodes parts;  // Lit, expression, Lit, ..., Lit
  explicit Interpolation(Nodes p) : Node(Kind::kInterpolation), parts(p) {}
};
struct Func : Node {
  TokenPos pos;
  Nodes args;
  Node* result;
  Func(TokenPos p, Nodes a, Node* r) : Node(Kind::kFunc), pos(p), args(a), result(r) {}
};
struct Struct : Node {
  TokenPos lbrace, rbrace;  // both absent for the inner struct of `a: b: c`
  Nodes elts;
  Struct(TokenPos l, Nodes e, TokenPos r) : Node(Kind::kStruct), lbrace(l), rbrace(r), elts(e) {}
};
struct List : Node {
  TokenPos lbrack, rbrack;
  Nodes elts;  // the last may be an Ellipsis
  List(TokenPos l, Nodes e, TokenPos r) : Node(Kind::kList), lbrack(l), rbrack(r), elts(e) {}
};
struct Ellipsis : Node {
  TokenPos pos;
  Node* type;
  explicit Ellipsis(TokenPos p, Node* t = nullptr) : Node(Kind::kEllipsis), pos(p), type(t) {}
};
struct FallbackClause;
struct Comprehension : Node {
  Nodes clauses;
  Node* value;  // Struct
  FallbackClause* fallback;
  Comprehension(Nodes c, Node* v, FallbackClause* f) : Node(Kind::kComprehension), clauses(c), value(v), fallback(f) {}
};
struct Paren : Node {
  TokenPos lparen, rparen;
  Node* x;
  Paren(TokenPos l, Node* e, TokenPos r) : Node(Kind::kParen), lparen(l), rparen(r), x(e) {}
};
struct Selector : Node {
  Pos begin;  // of the chain
  Node* x;
  TokenPos period;
  Node* sel;  // Ident or string Lit
  Selector(Node* e, TokenPos p, Node* s) : Node(Kind::kSelector), begin(start(e)), x(e), period(p), sel(s) {}
};
struct Index : Node {
  Pos begin;
  Node* x;
  TokenPos lbrack, rbrack;
  Node* index;
  Index(Node* e, TokenPos l, Node* i, TokenPos r)
      : Node(Kind::kIndex), begin(start(e)), x(e), lbrack(l), rbrack(r), index(i) {}
};
struct Slice : Node {
  Pos begin;
  Node* x;
  TokenPos lbrack, rbrack;
  Node *low, *high;  // may be absent
  Slice(Node* e, TokenPos l, Node* lo, Node* hi, TokenPos r)
      : Node(Kind::kSlice), begin(start(e)), x(e), lbrack(l), rbrack(r), low(lo), high(hi) {}
};
struct Call : Node {
  Pos begin;
  Node* fun;
  TokenPos lparen, rparen;
  Nodes args;
  Call(Node* f, TokenPos l, Nodes a, TokenPos r)
      : Node(Kind::kCall), begin(start(f)), fun(f), lparen(l), rparen(r), args(a) {}
};
struct Unary : Node {
  TokenPos op_pos;
  Tok op;
  Node* x;
  Unary(TokenPos p, Tok o, Node* e) : Node(Kind::kUnary), op_pos(p), op(o), x(e) {}
};
struct Binary : Node {
  Node *x, *y;
  TokenPos op_pos;
  Tok op;
  Pos begin;
  Binary(Node* l, TokenPos p, Tok o, Node* r) : Node(Kind::kBinary), x(l), y(r), op_pos(p), op(o), begin(start(l)) {}
};
// `x?` and `x...`
struct Postfix : Node {
  Node* x;
  Tok op;
  TokenPos op_pos;
  Postfix(Node* e, Tok o, TokenPos p) : Node(Kind::kPostfix), x(e), op(o), op_pos(p) {}
};
// X=expr: as a label, as a value, inside [X=string]
struct Alias : Node {
  Ident* ident;
  TokenPos equal;
  Node* x;
  Alias(Ident* i, TokenPos e, Node* v) : Node(Kind::kAlias), ident(i), equal(e), x(v) {}
};
// ~X, ~(X) and ~(K, X)
struct PostfixAlias : Node {
  TokenPos tilde, lparen, comma, rparen;
  Ident* label = nullptr;
  Ident* field = nullptr;
  explicit PostfixAlias(TokenPos t) : Node(Kind::kPostfixAlias), tilde(t) {}
};

struct ForClause : Node {
  TokenPos pos, colon, in;
  Ident *key, *value;  // key may be absent
  Node* source;
  ForClause(TokenPos p, Ident* k, TokenPos c, Ident* v, TokenPos i, Node* s)
      : Node(Kind::kFor), pos(p), colon(c), in(i), key(k), value(v), source(s) {}
};
struct IfClause : Node {
  TokenPos pos;
  Node* condition;
  IfClause(TokenPos p, Node* c) : Node(Kind::kIfClause), pos(p), condition(c) {}
};
// Both a clause and a declaration.
struct Let : Node {
  TokenPos pos, equal;
  Ident* ident;
  Node* x;
  Let(TokenPos p, Ident* i, TokenPos e, Node* v) : Node(Kind::kLet), pos(p), equal(e), ident(i), x(v) {}
};
struct TryClause : Node {
  TokenPos pos, equal;
  Ident* ident = nullptr;  // absent in the form without `x = expr`
  Node* x = nullptr;
  explicit TryClause(TokenPos p) : Node(Kind::kTryClause), pos(p) {}
};
struct FallbackClause : Node {
  TokenPos pos;
  Node* body;  // Struct
  FallbackClause(TokenPos p, Node* b) : Node(Kind::kFallbackClause), pos(p), body(b) {}
};

struct Attribute : Node {
  TokenPos at;
  std::string_view text;  // @name(body)
  Attribute(TokenPos p, std::string_view t) : Node(Kind::kAttribute), at(p), text(t) {}
  std::string_view name() const;
  std::string_view body() const;
};
struct Field : Node {
  Tok constraint = Tok::kIllegal;  // kOption, kNot
  TokenPos colon;
  Node* label = nullptr;  // Ident, Lit, Interpolation, Paren, List (pattern) or Alias of one
  PostfixAlias* alias = nullptr;
  Node* value = nullptr;
  Nodes attrs;               // Attribute
  bool from_schema = false;  // made of JSON Schema: a definition that nothing can fulfil is none that anything must
  explicit Field(Node* l) : Node(Kind::kField), label(l) {}
};
struct Embed : Node {
  Node* x;
  explicit Embed(Node* e) : Node(Kind::kEmbed), x(e) {}
};
struct Package : Node {
  TokenPos pos;
  Ident* name;
  Package(TokenPos p, Ident* n) : Node(Kind::kPackage), pos(p), name(n) {}
};
struct ImportSpec : Node {
  Ident* name;  // may be absent
  Lit* path;
  ImportSpec(Ident* n, Lit* p) : Node(Kind::kImportSpec), name(n), path(p) {}
};
struct Import : Node {
  TokenPos pos, lparen, rparen;
  Nodes specs;  // ImportSpec
  Import(TokenPos p, TokenPos l, Nodes s, TokenPos r) : Node(Kind::kImport), pos(p), lparen(l), rparen(r), specs(s) {}
};

// What @experiment(...) in front of a file turns on.
struct Experiments {
  bool explicit_open = false, alias_v2 = false, try_clause = false, short_circuit = false, testing = false;
};

struct File : Node {
  const Source* source = nullptr;
  Nodes decls;
  Experiments experiments;
  File() : Node(Kind::kFile) {}
  const Package* package() const;  // nullptr where there is none
};

template <class T>
T* as(Node* n) {
  return static_cast<T*>(n);
}
template <class T>
const T* as(const Node* n) {
  return static_cast<const T*>(n);
}

// The place of a node's first token and the place after its last byte.
TokenPos first(const Node* n);
Pos end(const Node* n);
// For setting how a made node is placed; nullptr where a node has no token of its own.
TokenPos* first_ref(Node* n);

// Adds a comment group, keeping the groups ordered by position.
void add_comment(Arena& arena, Node* n, const CommentGroup& group);

}  // namespace tutti::cue::ast
