#include "lang/cue/eval/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "lang/cue/eval/error_code.h"
#include "lang/cue/export/constraint.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

std::string kinds_text(Kinds k) {
  if (k == kBottomKind) return "_|_";
  if (k == kTopKind) return "_";
  struct Named {
    Kinds kind;
    std::string_view name;
  };
  constexpr Named names[] = {{kNullKind, "null"},   {kBoolKind, "bool"},     {kIntKind, "int"},
                             {kFloatKind, "float"}, {kStringKind, "string"}, {kBytesKind, "bytes"},
                             {kFuncKind, "func"},   {kListKind, "list"},     {kStructKind, "struct"}};
  bool number = (k & kNumberKind) == kNumberKind;
  if (number) k &= static_cast<Kinds>(~kNumberKind);
  std::string out;
  int n = 0;
  for (auto& x : names)
    if ((k & x.kind) == x.kind) {
      k &= static_cast<Kinds>(~x.kind);
      if (n++) out += '|';
      out += x.name;
    }
  if (number) out += n++ ? "|number" : "number";
  return n > 1 ? "(" + out + ")" : out;
}

std::string_view op_text(Op op) {
  switch (op) {
    case Op::kAnd: return "&";
    case Op::kOr: return "|";
    case Op::kAdd: return "+";
    case Op::kSub: return "-";
    case Op::kMul: return "*";
    case Op::kQuo: return "/";
    case Op::kLand: return "&&";
    case Op::kLor: return "||";
    case Op::kEq: return "==";
    case Op::kNe: return "!=";
    case Op::kLt: return "<";
    case Op::kLe: return "<=";
    case Op::kGt: return ">";
    case Op::kGe: return ">=";
    case Op::kMatch: return "=~";
    case Op::kNotMatch: return "!~";
    case Op::kNot: return "!";
    default: return "?";
  }
}

// ---- labels

Label Label::ident(std::string_view name, std::string_view package) {
  LabelKind k = LabelKind::kString;
  if (name.substr(0, 2) == "_#")
    k = LabelKind::kHiddenDefinition;
  else if (name.substr(0, 1) == "#")
    k = LabelKind::kDefinition;
  else if (name.substr(0, 1) == "_")
    k = LabelKind::kHidden;
  if (k != LabelKind::kHidden && k != LabelKind::kHiddenDefinition) return make(Symbol(name).id(), k);
  std::string key(name);
  key += '\0';
  key += package;
  return make(Symbol(key).id(), k);
}

Label Label::let(std::string_view name, u32 number) {
  std::string key(name);
  key += '\0';
  key += std::to_string(number);
  return make(Symbol(key).id(), LabelKind::kLet);
}

std::string_view Label::name() const {
  if (!valid() || is_int()) return {};
  std::string_view s = symbol().text();
  if (kind() == LabelKind::kString || kind() == LabelKind::kDefinition) return s;
  return s.substr(0, s.find('\0'));
}

bool plain_label(std::string_view text) { return !label_needs_quotes(text); }

std::string Label::text() const {
  if (is_int()) return std::to_string(index());
  if (is_string()) return label_text(name());
  return std::string(name());
}

std::string Label::plain() const { return is_int() ? std::to_string(index()) : std::string(name()); }

// ---- values

namespace {

void print(std::string& out, const Node* n, int depth);

void print_list(std::string& out, std::span<Node* const> list, std::string_view between, int depth) {
  bool first = true;
  for (Node* x : list) {
    if (!first) out += between;
    first = false;
    print(out, x, depth);
  }
}

std::string_view name_or_top(Symbol name) { return name.empty() ? "_" : name.text(); }

// The literal among the operands of &, nullptr for none.
const Node* literal_in(const Node* x) {
  if (x->type <= NodeType::kBytes) return x;
  if (x->type != NodeType::kBinary || to<Binary>(x)->op != Op::kAnd) return nullptr;
  const Node* left = literal_in(to<Binary>(x)->x);
  return left ? left : literal_in(to<Binary>(x)->y);
}

// `_|_`, and what is wrong. That may speak of the value itself, which then only is `_|_`.
void print_error(std::string& out, const Error* e) {
  static thread_local bool within = false;
  out += "_|_";
  if (!e || within) return;
  within = true;
  std::string path = e->path.empty() ? path_text(path_of(e->node)) : path_text(e->path);
  out += fmt::format("({}{}{})", path, path.empty() ? "" : ": ", message_of(e));
  within = false;
}

void print_vertex(std::string& out, const Vertex* v, int depth) {
  v = v->deref_value();
  // What failed a check is shown as it was before.
  bool failed = v->base && v->base->type == NodeType::kBottom;
  if (failed)
    for (auto& c : v->conjuncts)
      if (const Node* x = literal_in(expression_of(c.x))) return print(out, x, depth);
  bool failed_list = failed && !v->arcs.empty() && v->arcs[0]->label.is_int();
  bool failed_struct = failed && !v->arcs.empty() && !failed_list;
  if (!v->base || v->base->type == NodeType::kStructMarker || failed_struct) {
    if (!v->base && v->conjuncts.size() > 0 && v->arcs.empty()) {
      bool first = true;
      for (auto& c : v->conjuncts) {
        if (!first) out += " & ";
        first = false;
        print(out, expression_of(c.x), depth);
      }
      return;
    }
    out += '{';
    bool first = true;
    for (const Vertex* a : v->arcs) {
      if (a->label.is_let() || a->arc_type > ArcType::kOptional) continue;
      if (!first) out += ',';
      first = false;
      out += a->label.text();
      if (a->arc_type == ArcType::kOptional) out += '?';
      if (a->arc_type == ArcType::kRequired) out += '!';
      out += ':';
      print(out, a, depth);
    }
    out += '}';
  } else if (v->base->type == NodeType::kListMarker || failed_list) {
    out += '[';
    bool first = true;
    for (const Vertex* a : v->arcs) {
      if (!a->label.is_int()) continue;
      if (!first) out += ',';
      first = false;
      print(out, a, depth);
    }
    out += ']';
  } else {
    print(out, v->base, depth);
  }
}

std::string label_of(Label l) { return l.text(); }

// A path of several parts is in quotes: "encoding/json".Marshal
std::string shown_name(const Builtin* b) {
  if (b->package.find('/') == b->package.npos) return b->qualified();
  return fmt::format("\"{}\".{}", b->package, b->name);
}

void print(std::string& out, const Node* n, int depth) {
  if (!n) {
    out += "_";
    return;
  }
  if (depth > 12 || out.size() > 4000) {
    out += "...";
    return;
  }
  ++depth;
  switch (n->type) {
    case NodeType::kNull: out += "null"; break;
    case NodeType::kBool: out += to<Bool>(n)->value ? "true" : "false"; break;
    case NodeType::kNum: out += to<Num>(n)->value.text(); break;
    case NodeType::kString: out += quote(to<String>(n)->text); break;
    case NodeType::kBytes: out += quote(to<Bytes>(n)->text, {.bytes = true}); break;
    case NodeType::kTop: out += "_"; break;
    case NodeType::kBasicType: {
      std::string t = kinds_text(to<BasicType>(n)->kind);
      out += t;
      break;
    }
    case NodeType::kBound:
      out += op_text(to<Bound>(n)->op);
      print(out, to<Bound>(n)->value, depth);
      break;
    case NodeType::kBuiltin: out += shown_name(to<Builtin>(n)); break;
    case NodeType::kValidator: {
      auto* v = to<Validator>(n);
      out += shown_name(v->builtin) + '(';
      print_list(out, v->args, ", ", depth);
      out += ')';
      break;
    }
    case NodeType::kConjunction: {
      auto* c = to<Conjunction>(n);
      std::string_view name = c->name.empty() ? named_range(c->values) : c->name.text();
      if (name.empty())
        print_list(out, c->values, " & ", depth);
      else
        out += name;
      break;
    }
    case NodeType::kDisjunction: {
      auto* d = to<Disjunction>(n);
      for (std::size_t i = 0; i < d->values.size(); ++i) {
        if (i) out += " | ";
        if (i < d->defaults) out += '*';
        print(out, d->values[i], depth);
      }
      break;
    }
    case NodeType::kBottom: print_error(out, to<Bottom>(n)->error); break;
    case NodeType::kVertex: print_vertex(out, to<Vertex>(n), depth); break;
    case NodeType::kFieldRef: out += label_of(to<FieldRef>(n)->label); break;
    case NodeType::kLetRef: out += to<LetRef>(n)->label.name(); break;
    case NodeType::kValueRef: out += name_or_top(to<ValueRef>(n)->name); break;
    case NodeType::kLabelRef: out += name_or_top(to<LabelRef>(n)->name); break;
    case NodeType::kDynamicRef: out += name_or_top(to<DynamicRef>(n)->name); break;
    case NodeType::kImportRef: {
      std::string_view p = to<ImportRef>(n)->path.text();
      out += p.substr(p.rfind('/') + 1);
      break;
    }
    case NodeType::kSelector:
      print(out, to<Selector>(n)->x, depth);
      out += '.';
      out += label_of(to<Selector>(n)->label);
      break;
    case NodeType::kIndex:
      print(out, to<Index>(n)->x, depth);
      out += '[';
      print(out, to<Index>(n)->index, depth);
      out += ']';
      break;
    case NodeType::kSlice: {
      auto* s = to<Slice>(n);
      print(out, s->x, depth);
      out += '[';
      if (s->low) print(out, s->low, depth);
      out += ':';
      if (s->high) print(out, s->high, depth);
      out += ']';
      break;
    }
    case NodeType::kInterpolation: {
      out += '"';
      bool lit = true;
      for (Node* p : to<Interpolation>(n)->parts) {
        if (lit && p->type == NodeType::kString) {
          std::string q = quote(to<String>(p)->text);
          out += q.substr(1, q.size() - 2);
        } else {
          out += "\\(";
          print(out, p, depth);
          out += ')';
        }
        lit = !lit;
      }
      out += '"';
      break;
    }
    case NodeType::kUnary:
      out += op_text(to<Unary>(n)->op);
      print(out, to<Unary>(n)->x, depth);
      break;
    case NodeType::kBoundExpr:
      out += op_text(to<BoundExpr>(n)->op);
      print(out, to<BoundExpr>(n)->x, depth);
      break;
    case NodeType::kBinary: {
      auto* b = to<Binary>(n);
      out += '(';
      print(out, b->x, depth);
      out += ' ';
      out += op_text(b->op);
      out += ' ';
      print(out, b->y, depth);
      out += ')';
      break;
    }
    case NodeType::kOpen:
      print(out, to<Open>(n)->x, depth);
      out += "...";
      break;
    case NodeType::kCall:
      print(out, to<Call>(n)->fun, depth);
      out += '(';
      print_list(out, to<Call>(n)->args, ", ", depth);
      out += ')';
      break;
    case NodeType::kDisjunctionExpr: {
      auto* d = to<DisjunctionExpr>(n);
      out += '(';
      for (std::size_t i = 0; i < d->values.size(); ++i) {
        if (i) out += '|';
        if (d->values[i].marked) out += '*';
        print(out, d->values[i].value, depth);
      }
      out += ')';
      break;
    }
    case NodeType::kStruct: {
      out += '{';
      print_list(out, to<StructLit>(n)->decls, ",", depth);
      out += '}';
      break;
    }
    case NodeType::kList: {
      out += '[';
      print_list(out, to<ListLit>(n)->elems, ",", depth);
      out += ']';
      break;
    }
    case NodeType::kField: {
      auto* f = to<Field>(n);
      out += label_of(f->label);
      if (f->arc == ArcType::kOptional) out += '?';
      if (f->arc == ArcType::kRequired) out += '!';
      out += ':';
      print(out, f->value, depth);
      break;
    }
    case NodeType::kLetField:
      out += "let ";
      out += to<LetField>(n)->label.name();
      out += "=";
      print(out, to<LetField>(n)->value, depth);
      break;
    case NodeType::kDynamicField:
      print(out, to<DynamicField>(n)->key, depth);
      out += ':';
      print(out, to<DynamicField>(n)->value, depth);
      break;
    case NodeType::kPattern:
      out += '[';
      print(out, to<Pattern>(n)->filter, depth);
      out += "]:";
      print(out, to<Pattern>(n)->value, depth);
      break;
    case NodeType::kEllipsis:
      out += "...";
      if (to<Ellipsis>(n)->value) print(out, to<Ellipsis>(n)->value, depth);
      break;
    case NodeType::kComprehension:
      print_list(out, to<Comprehension>(n)->clauses, " ", depth);
      out += ' ';
      print(out, to<Comprehension>(n)->value, depth);
      break;
    case NodeType::kFor: {
      auto* f = to<ForClause>(n);
      out += "for ";
      if (f->key.valid()) out += f->key.plain() + ", ";
      out += f->value.valid() ? f->value.plain() : "_";
      out += " in ";
      print(out, f->source, depth);
      break;
    }
    case NodeType::kIf:
      out += "if ";
      print(out, to<IfClause>(n)->condition, depth);
      break;
    case NodeType::kLet:
      out += "let " + to<LetClause>(n)->label.plain() + "=";
      print(out, to<LetClause>(n)->x, depth);
      break;
    case NodeType::kTry: out += "try"; break;
    case NodeType::kStructMarker: out += "{}"; break;
    case NodeType::kListMarker: out += "[]"; break;
  }
}

}  // namespace

std::string compact(const Node* n) {
  std::string out;
  print(out, n, 0);
  return out;
}

// ---- errors

std::vector<Label> path_of(const Vertex* v) {
  std::vector<Label> path;
  for (; v && v->label.valid(); v = v->parent) path.push_back(v->label);
  std::reverse(path.begin(), path.end());
  return path;
}

std::string path_text(std::span<const Label> path) {
  std::string out;
  for (Label l : path) {
    if (!out.empty()) out += '.';
    out += l.is_let() ? std::string(l.name()) : l.text();
  }
  return out;
}

const char kEmptyDisjunction[] = "{} errors in empty disjunction:";

namespace {

std::vector<FlatError> flatten(std::span<const Error* const> errors);

Label label_of(const ErrorArg& a) {
  Label l;
  static_assert(sizeof(Label) == sizeof(u32));
  std::memcpy(static_cast<void*>(&l), &a.bits, sizeof l);
  return l;
}

std::string own_message(const Error* e) {
  std::string out;
  std::size_t next = 0;
  for (const char* p = e->format; *p; ++p) {
    if (p[0] != '{' || p[1] != '}') {
      out += *p;
      continue;
    }
    ++p;
    if (next >= e->args.size()) continue;
    const ErrorArg& a = e->args[next++];
    switch (a.kind) {
      case ErrorArg::kNode: out += compact(a.node); break;
      case ErrorArg::kLabel: out += label_of(a).text(); break;
      case ErrorArg::kText: out += std::string_view(a.text.data, a.text.size); break;
      case ErrorArg::kKinds: out += kinds_text(static_cast<Kinds>(a.bits)); break;
      case ErrorArg::kInt: out += std::to_string(a.integer); break;
      case ErrorArg::kOp: out += op_text(static_cast<Op>(a.bits)); break;
    }
  }
  return out;
}

void positions(std::vector<Pos>& out, const Node* n) {
  if (!n) return;
  auto add = [&](Pos p) {
    if (p && std::find(out.begin(), out.end(), p) == out.end()) out.push_back(p);
  };
  add(n->pos);
  if (n->type == NodeType::kVertex)
    for (auto& c : to<Vertex>(n)->conjuncts) positions(out, expression_of(c.x));
}

void add_position(std::vector<Pos>& out, Pos p) {
  if (p && std::find(out.begin(), out.end(), p) == out.end()) out.push_back(p);
}

// One error, then its cause, and the cause of that.
using Chain = std::vector<const Error*>;

bool heads_disjunction(const Error* e) { return e->format == kEmptyDisjunction; }

// The places of what an error speaks of.
std::vector<Pos> input_positions(const Chain& chain) {
  std::vector<Pos> out;
  for (const Error* w : chain) {
    if (!heads_disjunction(w))
      for (auto& a : w->args)
        if (a.kind == ErrorArg::kNode) positions(out, a.node);
    for (Pos p : w->others) add_position(out, p);
    if (w != chain[0]) add_position(out, w->pos);
  }
  return out;
}

std::vector<Chain> collect(const Error* e);

constexpr int kMostNested = 100;  // disjunctions in branches of disjunctions that are looked at as closely

// Of many branches those are told that speak of a place no other did; of branches that only lack something no others.
// What is not told is taken out.
void choose_branches(const Error* head) {
  std::span<ErrorArg> branches = head->args.subspan(1);
  if (branches.size() <= 2) return;
  auto lacks = std::ranges::find_if(branches, [](auto& a) { return to<Bottom>(a.node)->incomplete(); });
  if (lacks != branches.end())
    for (auto a = branches.begin(); a != lacks; ++a) a->node = nullptr;
  std::vector<Pos> seen;
  for (ErrorArg& a : branches) {
    std::vector<Chain> errors = a.node ? collect(to<Bottom>(a.node)->error) : std::vector<Chain>{};
    std::vector<Pos> places;
    if (!errors.empty()) {
      places = input_positions(errors[0]);
      places.insert(places.begin(), errors[0][0]->pos);
    }
    auto fresh =
        std::ranges::find_if(places, [&](Pos p) { return std::find(seen.begin(), seen.end(), p) == seen.end(); });
    if (fresh == places.end())
      a.node = nullptr;
    else
      seen.push_back(*fresh);
  }
}

std::vector<const Error*> told_branches(const Error* head) {
  static thread_local int nested = 0;
  bool first = head->args[0].integer < 0, closely = first && nested < kMostNested;
  nested += closely;
  if (closely) choose_branches(head);
  std::vector<const Error*> out;
  for (const ErrorArg& a : head->args.subspan(1))
    if (a.node) out.push_back(to<Bottom>(a.node)->error);
  if (first) head->args[0].integer = static_cast<i64>(closely ? flatten(out).size() : out.size());
  nested -= closely;
  return out;
}

// The single errors of a joined one, in order and each once: lists are joined with lists that hold the same. An error
// whose cause is a list stands for one of each.
std::vector<Chain> collect(const Error* e) {
  std::vector<Chain> out;
  std::unordered_set<const Error*> seen;
  std::vector<const Error*> todo{e};
  while (!todo.empty()) {
    e = todo.back();
    todo.pop_back();
    if (!e || !seen.insert(e).second) continue;
    if (e->left || e->right) {
      todo.push_back(e->right);
      todo.push_back(e->left);
    } else if (heads_disjunction(e)) {
      std::vector<const Error*> branches = told_branches(e);
      if (e->args[0].integer > 1) out.push_back({e});
      todo.insert(todo.end(), branches.rbegin(), branches.rend());
    } else if (e->wrapped) {
      for (Chain& cause : collect(e->wrapped)) {
        cause.insert(cause.begin(), e);
        out.push_back(std::move(cause));
      }
    } else {
      out.push_back({e});
    }
  }
  return out;
}

std::string message_of(const Chain& chain) {
  std::string out;
  for (const Error* e : chain) {
    std::string own = own_message(e);
    if (!own.empty()) out += (out.empty() ? "" : ": ") + own;
  }
  return out;
}

std::string path_of(const Chain& chain) {
  for (const Error* e : chain) {
    if (!e->path.empty()) return path_text(e->path);
    if (e->node) return path_text(path_of(e->node));
  }
  return {};
}

std::string told(const Chain& chain) {
  std::string out, last;
  for (const Error* e : chain) {
    std::string own = own_message(e), path = path_of(Chain{e});
    if (own.empty()) continue;
    if (!out.empty()) out += ": ";
    if (!path.empty() && path != last) out += path + ": ";
    out += own;
    last = path;
  }
  return out;
}

// What a field that is not there, or not allowed, may have been meant to be: another of its struct.
std::string meant(const Error* e) {
  std::string name;
  if (!e->args.empty() && e->args[0].kind == ErrorArg::kLabel)
    name = label_of(e->args[0]).text();
  else if (!e->args.empty() && e->args[0].kind == ErrorArg::kNode && e->args[0].node->type == NodeType::kSelector)
    name = to<Selector>(e->args[0].node)->label.text();
  else if (e->node)
    name = e->node->label.text();
  std::vector<std::string> names;
  for (const Vertex* a : e->among->arcs) {
    Label l = a->label;
    if (l.is_let() || l.is_int() || (a->base && a->base->type == NodeType::kBottom)) continue;
    names.push_back(l.text());
  }
  std::vector<std::string_view> views(names.begin(), names.end());
  return meant_name(name, views);
}

}  // namespace

std::string message_of(const Error* e) {
  std::vector<Chain> list = collect(e);
  return list.empty() ? "unknown error" : message_of(list[0]);
}

namespace {
std::vector<FlatError> flatten(std::span<const Error* const> errors) {
  std::vector<FlatError> out;
  for (const Error* e : errors)
    for (const Chain& chain : collect(e)) {
      FlatError f;
      e = chain[0];
      f.message = message_of(chain);
      f.pos = e->pos;
      if (e->among) f.near = meant(e);
      if (e->node && e->node->conjuncts.size() > 0) f.field = e->node->conjuncts[0].x->pos;
      f.path = path_of(chain);
      f.told = told(chain);
      f.others = input_positions(chain);
      std::erase(f.others, f.pos);
      std::sort(f.others.begin(), f.others.end());
      out.push_back(std::move(f));
    }
  auto key = [](const FlatError& e) { return std::tie(e.pos, e.path, e.message); };
  std::ranges::stable_sort(out, {}, key);
  auto again = std::ranges::unique(out, {}, key);
  out.erase(again.begin(), again.end());
  return out;
}
}  // namespace

std::vector<FlatError> flatten(const Bottom* b) {
  const Error* e = b ? b->error : nullptr;
  return flatten(std::span<const Error* const>(&e, 1));
}

}  // namespace tutti::cue
