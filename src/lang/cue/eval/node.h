#pragma once

#include <span>
#include <string_view>

#include "base/decimal.h"
#include "lang/cue/eval/kind.h"
#include "lang/cue/eval/label.h"
#include "lang/cue/eval/room.h"
#include "lang/cue/syntax/ast.h"

// What a file compiles to: expressions whose identifiers are resolved to (how many scopes up, label), and the values
// they evaluate to. Values are expressions too, so that a result can be put wherever an expression can. All live in an
// arena.
namespace tutti::cue {

enum class NodeType : u8 {
  // values
  kNull,
  kBool,
  kNum,
  kString,
  kBytes,
  kTop,
  kBasicType,
  kBound,
  kBuiltin,
  kValidator,
  kConjunction,
  kDisjunction,
  kBottom,
  kVertex,
  // references
  kFieldRef,
  kValueRef,
  kDynamicRef,
  kImportRef,
  kLetRef,
  kSelector,
  kIndex,
  // other expressions
  kLabelRef,
  kBoundExpr,
  kSlice,
  kInterpolation,
  kUnary,
  kBinary,
  kOpen,
  kCall,
  kDisjunctionExpr,
  kStruct,
  kList,
  // parts of structs and lists
  kComprehension,
  kField,
  kLetField,
  kDynamicField,
  kPattern,
  kEllipsis,
  // clauses
  kFor,
  kIf,
  kLet,
  kTry,
  // what a vertex holds instead of a value
  kStructMarker,
  kListMarker,
};

struct Vertex;

struct Node {
  Pos pos;
  NodeType type;
  u8 flags = 0;
  explicit Node(NodeType t, const ast::Node* s = nullptr) : pos(s ? ast::start(s) : Pos{}), type(t) {}

  // What it was compiled from, where that is kept: in front of it.
  const ast::Node* src() const { return flags & kHasSyntax ? *before() : nullptr; }
  void set_src(const ast::Node* s) {
    if (flags & kHasSyntax) *before() = s;
  }
  static constexpr u8 kHasSyntax = 2;

  bool is_value() const { return type <= NodeType::kVertex; }
  bool is_reference() const { return type >= NodeType::kFieldRef && type <= NodeType::kIndex; }
  bool is_evaluated() const { return type >= NodeType::kLabelRef && type <= NodeType::kList; }
  bool is_expr() const { return type <= NodeType::kList; }
  // The identifier that it was compiled from; empty where it was something else.
  static Symbol name_in(const ast::Node* s) {
    return s && s->kind == ast::Kind::kIdent ? ast::as<ast::Ident>(s)->name : Symbol();
  }

 private:
  const ast::Node** before() const {
    return reinterpret_cast<const ast::Node**>(reinterpret_cast<std::uintptr_t>(this)) - 1;
  }
};

template <class T>
T* to(Node* n) {
  return static_cast<T*>(n);
}
template <class T>
const T* to(const Node* n) {
  return static_cast<const T*>(n);
}

struct Builtin;

// ---- values

struct Null : Node {
  explicit Null(const ast::Node* s = nullptr) : Node(NodeType::kNull, s) {}
};
struct Bool : Node {
  bool value;
  explicit Bool(bool v, const ast::Node* s = nullptr) : Node(NodeType::kBool, s), value(v) {}
};
struct Num : Node {
  Kinds kind;
  Decimal value;
  Num(Kinds k, Decimal v, const ast::Node* s = nullptr) : Node(NodeType::kNum, s), kind(k), value(std::move(v)) {}
};
struct String : Node {
  std::string_view text;
  explicit String(std::string_view t, const ast::Node* s = nullptr) : Node(NodeType::kString, s), text(t) {}
};
struct Bytes : Node {
  std::string_view text;
  explicit Bytes(std::string_view t, const ast::Node* s = nullptr) : Node(NodeType::kBytes, s), text(t) {}
};
struct Top : Node {
  explicit Top(const ast::Node* s = nullptr) : Node(NodeType::kTop, s) {}
};
struct BasicType : Node {
  Kinds kind;
  explicit BasicType(Kinds k, const ast::Node* s = nullptr) : Node(NodeType::kBasicType, s), kind(k) {}
};
struct Bound : Node {
  Op op;
  Ref<Node> value;
  Bound(Op o, Node* v, const ast::Node* s = nullptr) : Node(NodeType::kBound, s), op(o), value(v) {}
};
struct Call;
// A function called with one argument fewer, or a bare one: a check on the value it is unified with.
struct Validator : Node {
  const Call* call;
  const Builtin* builtin;
  std::span<Node*> args;  // all but the first
  Validator(const Call* c, const Builtin* b, std::span<Node*> a);
};
struct Conjunction : Node {
  std::span<Node*> values;
  Symbol name;  // uint8 and the like
  explicit Conjunction(std::span<Node*> v, const ast::Node* s = nullptr)
      : Node(NodeType::kConjunction, s), values(v), name(name_in(s)) {}
};
struct Disjunction : Node {
  std::span<Node*> values;  // the defaults first
  u32 defaults = 0;
  bool has_defaults = false;
  explicit Disjunction(std::span<Node*> v) : Node(NodeType::kDisjunction), values(v) {}
};

// ---- expressions

struct FieldRef : Node {
  u32 up;
  Label label;
  bool optional = false;
  FieldRef(u32 u, Label l, const ast::Node* s) : Node(NodeType::kFieldRef, s), up(u), label(l) {}
};
// The enclosing struct or field value: `self`, `a: X={...}`.
struct ValueRef : Node {
  u32 up;
  Symbol name;
  ValueRef(u32 u, const ast::Node* s) : Node(NodeType::kValueRef, s), up(u), name(name_in(s)) {}
};
// The label that a pattern or dynamic field matched: [X=string].
struct LabelRef : Node {
  u32 up;
  Symbol name;
  LabelRef(u32 u, const ast::Node* s) : Node(NodeType::kLabelRef, s), up(u), name(name_in(s)) {}
};
// A field whose name is computed: X="\(a)": 1.
struct DynamicRef : Node {
  u32 up;
  Symbol name;
  Ref<Node> label;
  DynamicRef(u32 u, Node* l, const ast::Node* s) : Node(NodeType::kDynamicRef, s), up(u), name(name_in(s)), label(l) {}
};
struct ImportRef : Node {
  Symbol path;
  ImportRef(Symbol p, const ast::Node* s) : Node(NodeType::kImportRef, s), path(p) {}
};
struct LetRef : Node {
  u32 up;
  Label label;
  LetRef(u32 u, Label l, const ast::Node* s) : Node(NodeType::kLetRef, s), up(u), label(l) {}
};
struct Selector : Node {
  Ref<Node> x;
  Label label;
  bool optional = false;
  Pos at;  // of the label
  Selector(Node* e, Label l, const ast::Node* s)
      : Node(NodeType::kSelector, s),
        x(e),
        label(l),
        at(s && s->kind == ast::Kind::kSelector ? ast::start(ast::as<ast::Selector>(s)->sel) : pos) {}
};
struct Index : Node {
  Ref<Node> x, index;
  bool optional = false;
  Index(Node* e, Node* i, const ast::Node* s) : Node(NodeType::kIndex, s), x(e), index(i) {}
};
struct Slice : Node {
  Ref<Node> x, low, high;
  Slice(Node* e, Node* l, Node* h, const ast::Node* s) : Node(NodeType::kSlice, s), x(e), low(l), high(h) {}
};
struct Interpolation : Node {
  Kinds kind;
  std::span<Node*> parts;  // String, expression, String, ...
  Interpolation(Kinds k, std::span<Node*> p, const ast::Node* s)
      : Node(NodeType::kInterpolation, s), kind(k), parts(p) {}
};
struct Unary : Node {
  Op op;
  Ref<Node> x;
  Unary(Op o, Node* e, const ast::Node* s) : Node(NodeType::kUnary, s), op(o), x(e) {}
};
struct Binary : Node {
  Op op;
  bool short_circuit = false;
  Ref<Node> x, y;
  Binary(Op o, Node* l, Node* r, const ast::Node* s) : Node(NodeType::kBinary, s), op(o), x(l), y(r) {}
};
struct BoundExpr : Node {
  Op op;
  Ref<Node> x;
  Ref<Node> made;  // the bound, when x is a literal
  BoundExpr(Op o, Node* e, const ast::Node* s) : Node(NodeType::kBoundExpr, s), op(o), x(e) {}
};
// x...
struct Open : Node {
  Ref<Node> x;
  Open(Node* e, const ast::Node* s) : Node(NodeType::kOpen, s), x(e) {}
};
struct Call : Node {
  Ref<Node> fun;
  std::span<Node*> args;
  Ref<Node> made;  // the validator, when all arguments are literals
  Call(Node* f, std::span<Node*> a, const ast::Node* s) : Node(NodeType::kCall, s), fun(f), args(a) {}
};
struct Disjunct {
  Ref<Node> value;
  bool marked;
};
struct DisjunctionExpr : Node {
  std::span<Disjunct> values;
  bool has_defaults = false;
  Ref<Node> made;       // the disjunction, when its arms are known,
  Ref<Vertex> made_in;  // and the scope in which its references looked
  explicit DisjunctionExpr(std::span<Disjunct> v, const ast::Node* s = nullptr)
      : Node(NodeType::kDisjunctionExpr, s), values(v) {}
};
struct StructLit : Node {
  bool is_file : 1 = false, explicit_open : 1 = false, has_embedding : 1 = false;
  std::span<Node*> decls;
  u32 order = 0;  // number of the literal in its file: the order of fields follows it
  explicit StructLit(const ast::Node* s = nullptr) : Node(NodeType::kStruct, s) {}
};
struct ListLit : Node {
  std::span<Node*> elems;
  bool explicit_open = false;
  explicit ListLit(const ast::Node* s = nullptr) : Node(NodeType::kList, s) {}
};

// ---- declarations and clauses

enum class ArcType : u8 { kMember, kRequired, kOptional, kPending, kNotPresent };

struct Field : Node {
  ArcType arc = ArcType::kMember;
  bool told_where_used = false;  // of a definition: what is wrong with it concerns only what refers to it
  Label label;
  Ref<Node> value;
  Field(Label l, ArcType a, Node* v, const ast::Node* s) : Node(NodeType::kField, s), arc(a), label(l), value(v) {}
};
struct LetField : Node {
  Label label;
  bool multi = false;
  Ref<Node> value;
  LetField(Label l, Node* v, const ast::Node* s) : Node(NodeType::kLetField, s), label(l), value(v) {}
};
struct DynamicField : Node {
  ArcType arc;
  Ref<Node> key, value;
  bool binds_label = false;  // ~(K, V)
  DynamicField(ArcType a, Node* k, Node* v, const ast::Node* s)
      : Node(NodeType::kDynamicField, s), arc(a), key(k), value(v) {}
};
struct Pattern : Node {
  Ref<Node> filter, value;
  Pattern(Node* f, Node* v, const ast::Node* s) : Node(NodeType::kPattern, s), filter(f), value(v) {}
};
struct Ellipsis : Node {
  Ref<Node> value;
  Ellipsis(Node* v, const ast::Node* s) : Node(NodeType::kEllipsis, s), value(v) {}
};
struct Comprehension : Node {
  std::span<Node*> clauses;
  Ref<StructLit> value;
  Ref<StructLit> fallback;
  Comprehension(std::span<Node*> c, StructLit* v, const ast::Node* s)
      : Node(NodeType::kComprehension, s), clauses(c), value(v) {}
};
struct ForClause : Node {
  Label key, value;
  Ref<Node> source;
  ForClause(Label k, Label v, Node* x, const ast::Node* s) : Node(NodeType::kFor, s), key(k), value(v), source(x) {}
};
struct IfClause : Node {
  Ref<Node> condition;
  IfClause(Node* c, const ast::Node* s) : Node(NodeType::kIf, s), condition(c) {}
};
struct LetClause : Node {
  Label label;
  Ref<Node> x;
  LetClause(Label l, Node* e, const ast::Node* s) : Node(NodeType::kLet, s), label(l), x(e) {}
};
struct TryClause : Node {
  Label label;
  Ref<Node> x;  // nullptr for the form around a struct
  TryClause(Label l, Node* e, const ast::Node* s) : Node(NodeType::kTry, s), label(l), x(e) {}
};

// The expression of a conjunct: what a field, pattern or ellipsis declares, or the node itself.
inline Node* expression_of(Node* n) {
  switch (n->type) {
    case NodeType::kField: return to<Field>(n)->value;
    case NodeType::kLetField: return to<LetField>(n)->value;
    case NodeType::kDynamicField: return to<DynamicField>(n)->value;
    case NodeType::kPattern: return to<Pattern>(n)->value;
    case NodeType::kEllipsis: return to<Ellipsis>(n)->value;
    default: return n;
  }
}

// Makes nodes. Numbers larger than 64 bits hold memory of their own, which is given back with the store.
class NodeStore {
 public:
  explicit NodeStore(Room& arena) : arena_(arena) {}
  ~NodeStore();
  NodeStore(const NodeStore&) = delete;
  NodeStore& operator=(const NodeStore&) = delete;

  template <class T, class... A>
  T* make(A&&... a) {
    if (forgets_syntax_ || std::is_same_v<T, Vertex>)
      return new (arena_.allocate(sizeof(T), alignof(T))) T(std::forward<A>(a)...);
    constexpr std::size_t kBefore = sizeof(const ast::Node*);
    static_assert(alignof(T) <= kBefore);
    char* place = static_cast<char*>(arena_.allocate(kBefore + sizeof(T), kBefore));
    T* n = new (place + kBefore) T(std::forward<A>(a)...);
    n->flags |= Node::kHasSyntax;
    if constexpr (std::is_same_v<T, Validator>)
      n->set_src(n->call ? n->call->src() : nullptr);
    else
      n->set_src(syntax_in(a...));
    return n;
  }
  // From now on nodes have only the place of what they were compiled from, so that the syntax need not be kept.
  void forget_syntax() { forgets_syntax_ = true; }
  bool forgets_syntax() const { return forgets_syntax_; }
  Num* num(Kinds kind, const Decimal& d, const ast::Node* src = nullptr);
  Num* integer(i64 i) { return num(kIntKind, Decimal(i)); }
  template <class T>
  std::span<T> keep(const std::vector<T>& v) {
    return arena_.copy(std::span<const T>(v));
  }
  std::string_view keep(std::string_view s) { return arena_.copy(s); }
  Room& arena() { return arena_; }

 private:
  // The last argument where that is what the node was compiled from.
  static const ast::Node* syntax_in() { return nullptr; }
  template <class A, class... B>
  static const ast::Node* syntax_in(const A& a, const B&... b) {
    if constexpr (sizeof...(B) > 0)
      return syntax_in(b...);
    else if constexpr (std::is_convertible_v<A, const ast::Node*>)
      return a;
    else
      return nullptr;
  }

  Room& arena_;
  bool forgets_syntax_ = false;
  std::vector<Num*> big_;
};

}  // namespace tutti::cue
