// Values as syntax.
#include <fmt/format.h>

#include <algorithm>

#include "lang/cue/eval/print.h"
#include "lang/cue/export/exporter.h"
#include "lang/cue/export/order.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

namespace {

struct Range {
  const char *name, *low, *high;
};
// Integer types with bounds; `>=0` alone is uint.
constexpr Range kIntRanges[] = {
    {"int8", "-128", "127"},
    {"int16", "-32768", "32767"},
    {"int32", "-2147483648", "2147483647"},
    {"int64", "-9223372036854775808", "9223372036854775807"},
    {"int128", "-170141183460469231731687303715884105728", "170141183460469231731687303715884105727"},
    {"uint8", "0", "255"},
    {"uint16", "0", "65535"},
    {"uint32", "0", "4294967295"},
    {"uint64", "0", "18446744073709551615"},
    {"uint128", "0", "340282366920938463463374607431768211455"},
    {"rune", "0", "1114111"},
};
constexpr Range kFloatRanges[] = {
    {"float32", "-3.40282346638528859811704183484516925440e+38", "3.40282346638528859811704183484516925440e+38"},
    {"float64", "-1.797693134862315708145274237317043567981e+308", "1.797693134862315708145274237317043567981e+308"},
};

// The name of a predeclared range that a conjunction is exactly, or "".
std::string_view builtin_range(const Conjunction* x) {
  const Num *low = nullptr, *high = nullptr;
  bool is_int = false, is_float = false;
  for (Node* v : x->values) {
    if (v->type == NodeType::kBasicType) {
      Kinds k = to<BasicType>(v)->kind;
      if (k == kIntKind)
        is_int = true;
      else if (k == kFloatKind)
        is_float = true;
      else if (k != kNumberKind)
        return {};
    } else if (v->type == NodeType::kBound && to<Bound>(v)->value->type == NodeType::kNum) {
      const auto* n = to<Num>(to<Bound>(v)->value);
      if (to<Bound>(v)->op == Op::kGe && !low)
        low = n;
      else if (to<Bound>(v)->op == Op::kLe && !high)
        high = n;
      else
        return {};
    } else {
      return {};
    }
  }
  if (is_int && low && !high && low->value.is_zero()) return "uint";
  if (!low || !high) return {};
  if (is_int)
    for (const Range& r : kIntRanges)
      if (low->value == *Decimal::parse(r.low) && high->value == *Decimal::parse(r.high)) return r.name;
  if (!is_int && !is_float)
    for (const Range& r : kFloatRanges)
      if (low->value == *Decimal::parse(r.low) && high->value == *Decimal::parse(r.high)) return r.name;
  return {};
}

int type_order(const Node* n) {
  switch (n->type) {
    case NodeType::kTop: return 0;
    case NodeType::kBasicType: return 1;
    case NodeType::kFieldRef: return 2;
    case NodeType::kBool:
    case NodeType::kNull:
    case NodeType::kNum:
    case NodeType::kString:
    case NodeType::kBytes: return 10;
    case NodeType::kBound: return 20;
    case NodeType::kStruct:
    case NodeType::kList: return 500;
    default: return 25;
  }
}

}  // namespace

bool leaf_before(const Node* a, const Node* b) {
  int x = type_order(a), y = type_order(b);
  if (x != y) return x < y;
  return a->src && b->src && a->pos < b->pos;
}

Tok op_token(Op op) {
  switch (op) {
    case Op::kAnd: return Tok::kAnd;
    case Op::kOr: return Tok::kOr;
    case Op::kAdd: return Tok::kAdd;
    case Op::kSub: return Tok::kSub;
    case Op::kMul: return Tok::kMul;
    case Op::kQuo: return Tok::kQuo;
    case Op::kLand: return Tok::kLand;
    case Op::kLor: return Tok::kLor;
    case Op::kEq: return Tok::kEql;
    case Op::kNe: return Tok::kNeq;
    case Op::kLt: return Tok::kLss;
    case Op::kLe: return Tok::kLeq;
    case Op::kGt: return Tok::kGtr;
    case Op::kGe: return Tok::kGeq;
    case Op::kMatch: return Tok::kMat;
    case Op::kNotMatch: return Tok::kNmat;
    case Op::kNot: return Tok::kNot;
    default: return Tok::kIllegal;
  }
}

Tok arc_token(ArcType t) {
  return t == ArcType::kOptional ? Tok::kOption : t == ArcType::kRequired ? Tok::kNot : Tok::kIllegal;
}

ast::Node* Exporter::join(Tok op, const std::vector<ast::Node*>& list) {
  if (list.empty()) return nullptr;
  ast::Node* x = list[0];
  for (std::size_t i = 1; i < list.size(); ++i) x = arena_.make<ast::Binary>(x, TokenPos{}, op, list[i]);
  return x;
}

ast::Node* Exporter::and_(ast::Node* a, ast::Node* b) {
  if (!a || !b) return a ? a : b;
  return arena_.make<ast::Binary>(a, TokenPos{}, Tok::kAnd, b);
}

ast::Struct* Exporter::make_struct(const std::vector<ast::Node*>& decls, bool brace) {
  return arena_.make<ast::Struct>(brace ? TokenPos{{}, Rel::kNoSpace} : TokenPos{}, make_nodes(arena_, decls),
                                  TokenPos{});
}

ast::Node* Exporter::label(Label l) {
  if (l.is_int()) return make_lit(arena_, Tok::kInt, std::to_string(l.index()));
  if (l.is_string()) return make_label(arena_, l.name());
  return ident(l.name());
}

// What a vertex holds: its arcs, or the value, or the expressions it was given when it is not yet a value.
ast::Node* Exporter::vertex(Vertex* n) {
  n = n->deref_value();
  for (const Frame& f : stack_)
    if (f.node == n) return ident("_");
  std::vector<ast::Node*> attrs;
  if (p_.show_attributes) attrs = decl_attrs(n);
  push(n);
  ++top().up;
  for (const Conjunct& c : n->conjuncts) mark_lets(expression_of(c.x));
  std::size_t lets = top().scope.size();
  ast::Node* result = nullptr;
  bool is_scope = false;
  if (n->base) {
    switch (n->base->type) {
      case NodeType::kStructMarker:
        result = struct_composite(n, attrs);
        is_scope = true;
        break;
      case NodeType::kListMarker:
        is_scope = show_arcs(n) || !attrs.empty();
        result = is_scope ? struct_composite(n, attrs) : list_composite(n);
        break;
      case NodeType::kBottom: {
        auto* b = to<Bottom>(n->base);
        if (n->arc_type == ArcType::kOptional) break;
        if (p_.show_errors && b->child_error) {
          bool list = !n->arcs.empty() && n->arcs[0]->label.is_int() && !show_arcs(n) && attrs.empty();
          is_scope = !list;
          result = list ? list_composite(n) : struct_composite(n, attrs);
        } else if (!b->incomplete() || n->conjuncts.empty() || p_.final) {
          result = bottom(b);
        }
        break;
      }
      default:
        is_scope = show_arcs(n) || !attrs.empty();
        result = is_scope ? struct_composite(n, attrs) : value(n->base, n);
    }
  }
  if (!result) {
    std::vector<Conjunct> list(n->conjuncts.begin(), n->conjuncts.end());
    std::stable_sort(list.begin(), list.end(), [](const Conjunct& a, const Conjunct& b) {
      return leaf_before(expression_of(a.x), expression_of(b.x));
    });
    std::vector<ast::Node*> parts;
    std::vector<const Node*> seen;
    for (const Conjunct& c : list) {
      Node* x = expression_of(c.x);
      if (std::find(seen.begin(), seen.end(), x) != seen.end()) continue;
      seen.push_back(x);
      if (ast::Node* e = expr(c.env, x)) parts.push_back(e);
    }
    result = join(Tok::kAnd, parts);
    if (!result) result = ident("_");
  }
  if (!is_scope && lets > 0) {
    bool used = false;
    for (ast::Node* d : top().scope)
      if (d->kind == ast::Kind::kLet && static_cast<ast::Let*>(d)->x) used = true;
    if (used) result = adt(nullptr, n);
  }
  pop();
  return result;
}

ast::Node* Exporter::value(Node* n, const Vertex* orig) {
  if (p_.take_defaults) n = c_.default_of(n);
  switch (n->type) {
    case NodeType::kBottom: return bottom(to<Bottom>(n));
    case NodeType::kNull: return make_lit(arena_, Tok::kNull, "null");
    case NodeType::kBool: {
      bool b = to<Bool>(n)->value;
      return make_lit(arena_, b ? Tok::kTrue : Tok::kFalse, b ? "true" : "false");
    }
    case NodeType::kNum: return num(to<Num>(n), orig);
    case NodeType::kString: return text(to<String>(n)->text, false, orig);
    case NodeType::kBytes: return text(to<Bytes>(n)->text, true, orig);
    case NodeType::kBasicType: {
      Kinds k = to<BasicType>(n)->kind;
      return ident(k == kTopKind ? "_" : kinds_text(k));
    }
    case NodeType::kTop: return ident("_");
    case NodeType::kBound: return unary(op_token(to<Bound>(n)->op), value(to<Bound>(n)->value));
    case NodeType::kBuiltin: return builtin(to<Builtin>(n));
    case NodeType::kValidator: {
      auto* v = to<Validator>(n);
      if (v->args.empty() && !v->call) return builtin(v->builtin);
      std::vector<ast::Node*> args;
      for (Node* a : v->args) args.push_back(value(a));
      return arena_.make<ast::Call>(builtin(v->builtin), TokenPos{}, make_nodes(arena_, args), TokenPos{});
    }
    case NodeType::kVertex: return vertex(to<Vertex>(n));
    case NodeType::kConjunction: return conjunction(to<Conjunction>(n));
    case NodeType::kDisjunction: return disjunction(to<Disjunction>(n));
    default: return ident("_");
  }
}

ast::Node* Exporter::conjunction(const Conjunction* n) {
  if (n->values.empty()) return ident("_");
  if (n->values.size() == 1) return p_.simplify ? expr(nullptr, n->values[0]) : value(n->values[0]);
  if (p_.simplify)
    if (std::string_view name = builtin_range(n); !name.empty()) return ident(name);
  // Bounds on both sides come as `int & >=a & <=b`, with uint for int where nothing is negative.
  const Bound *low = nullptr, *high = nullptr;
  bool is_int = false;
  std::vector<Node*> rest;
  auto number = [](const Bound* b) -> const Decimal& { return to<Num>(b->value)->value; };
  for (Node* v : n->values) {
    bool used = false;
    if (p_.simplify) {
      if (v->type == NodeType::kBasicType && (to<BasicType>(v)->kind & kScalarKinds) == kIntKind) {
        is_int = used = true;
      } else if (v->type == NodeType::kBound && to<Bound>(v)->value->type == NodeType::kNum) {
        auto* b = to<Bound>(v);
        if (b->op == Op::kGt || b->op == Op::kGe) {
          if (!low || (b->op == Op::kGt ? number(low) <= number(b) : number(low) < number(b))) low = b;
          used = true;
        } else if (b->op == Op::kLt || b->op == Op::kLe) {
          if (!high || (b->op == Op::kLt ? number(high) >= number(b) : number(high) > number(b))) high = b;
          used = true;
        }
      }
    }
    if (!used) rest.push_back(v);
  }
  ast::Node* result = nullptr;
  if (low && high) {
    const Bound* from = low;
    if (is_int) {
      int sign = number(low).sign();
      result = ident(sign < 0 ? "int" : "uint");
      if (sign == 0 && low->op == Op::kGe) from = nullptr;
    }
    if (from) result = and_(result, expr(nullptr, const_cast<Bound*>(from)));
    result = and_(result, expr(nullptr, const_cast<Bound*>(high)));
  } else {
    rest.assign(n->values.begin(), n->values.end());
  }
  std::stable_sort(rest.begin(), rest.end(), leaf_before);
  for (Node* v : rest) result = and_(result, value(v));
  return result;
}

ast::Node* Exporter::disjunction(const Disjunction* n) {
  std::vector<ast::Node*> parts;
  for (std::size_t i = 0; i < n->values.size(); ++i) {
    ast::Node* x = p_.simplify ? value(n->values[i]) : expr(nullptr, n->values[i]);
    if (i < n->defaults) x = unary(Tok::kMul, x);
    parts.push_back(x);
  }
  return join(Tok::kOr, parts);
}

ast::Node* Exporter::bottom(const Bottom* b) {
  auto* lit = arena_.make<ast::Bottom>(TokenPos{});
  if (b->error) {
    ast::CommentGroup g;
    g.line = true;
    g.position = 2;
    std::vector<FlatError> all = flatten(b);
    std::string text = "// ";
    if (!all.empty()) text += all[0].path.empty() ? all[0].message : all[0].path + ": " + all[0].message;
    if (all.size() > 1) text += fmt::format(" (and {} more errors)", all.size() - 1);
    ast::Comment comment{TokenPos{}, arena_.copy(text)};
    g.list = arena_.copy(std::span<const ast::Comment>(&comment, 1));
    ast::add_comment(arena_, lit, g);
  }
  return lit;
}

namespace {

// The literal that a conjunct was written as, so that it is shown as written.
const ast::Lit* written(const Vertex* v) {
  if (!v) return nullptr;
  for (const Conjunct& c : v->conjuncts) {
    const ast::Node* s = c.x->src;
    if (s && s->kind == ast::Kind::kLit) return static_cast<const ast::Lit*>(s);
  }
  return nullptr;
}

}  // namespace

ast::Node* Exporter::num(const Num* n, const Vertex* orig) {
  if (const ast::Lit* l = written(orig)) return make_lit(arena_, l->tok, l->text);
  bool integer = n->kind & kIntKind;
  std::string s = n->value.text();
  if (!integer && s.find_first_of("eE.") == std::string::npos) s += '.';
  return make_lit(arena_, integer ? Tok::kInt : Tok::kFloat, s);
}

ast::Node* Exporter::text(std::string_view s, bool bytes, const Vertex* orig) {
  if (const ast::Lit* l = written(orig)) return make_lit(arena_, l->tok, l->text);
  return make_lit(arena_, Tok::kString, quote(s, {.bytes = bytes, .tabs = static_cast<int>(stack_.size())}));
}

ast::Node* Exporter::builtin(const Builtin* b) {
  if (b->package.empty()) return ident(b->name);
  std::string path(b->package);
  std::string name = path.substr(path.rfind('/') + 1);
  imports_[path] = name;
  return arena_.make<ast::Selector>(ident(name), TokenPos{}, ident(b->name));
}

ast::Node* Exporter::list_composite(Vertex* v) {
  std::vector<ast::Node*> elts;
  for (Vertex* a : v->arcs) {
    if (!a->label.is_int()) continue;
    ast::Node* e = vertex(a);
    if (p_.show_docs) set_docs(e, a);
    elts.push_back(e);
  }
  if (!p_.take_defaults && v->is_list() && static_cast<ListMarker*>(v->base)->open) {
    ast::Node* type = nullptr;
    // The type of further elements: what the list's ellipses say.
    std::vector<Conj> types;
    for (const Conjunct& c : v->conjuncts) {
      Node* x = expression_of(c.x);
      if (x && x->type == NodeType::kList)
        for (Node* e : to<ListLit>(x)->elems)
          if (e->type == NodeType::kEllipsis && to<Ellipsis>(e)->value)
            types.push_back({Conjunct{c.env, to<Ellipsis>(e)->value, {}}, 0});
    }
    if (!types.empty()) {
      Vertex* t = c_.new_vertex();
      t->parent = v;
      for (const Conj& k : types) t->conjuncts.push(arena_, Conjunct{c_.new_env(k.c.env, v), k.c.x, {}});
      c_.finalize(t);
      if (t->kinds() != kTopKind) type = value(t, t);
    }
    elts.push_back(arena_.make<ast::Ellipsis>(TokenPos{}, type));
  }
  return make_list(arena_, elts);
}

bool Exporter::show_arcs(Vertex* v) const {
  if (!p_.show_hidden && !p_.show_definitions) return false;
  for (Vertex* a : v->arcs)
    if ((a->label.is_def() && p_.show_definitions) || (a->label.is_hidden() && p_.show_hidden)) return true;
  return false;
}

ast::Node* Exporter::take_scope() {
  auto& scope = top().scope;
  std::erase_if(scope, [](ast::Node* d) { return d->kind == ast::Kind::kLet && !static_cast<ast::Let*>(d)->x; });
  return make_struct(scope);
}

ast::Node* Exporter::struct_composite(Vertex* v, const std::vector<ast::Node*>& attrs) {
  bool regular = false, list = false;
  auto embed = [&](ast::Node* x) { top().scope.push_back(arena_.make<ast::Embed>(x)); };
  switch (v->base->type) {
    case NodeType::kStructMarker: regular = true; break;
    case NodeType::kListMarker: list = true; break;
    case NodeType::kBottom:
      if (!p_.show_errors || !to<Bottom>(v->base)->child_error) {
        embed(value(v->base));
        return take_scope();
      }
      regular = true;
      for (Vertex* a : v->arcs) list |= a->label.is_int();
      break;
    default: embed(value(v->base));
  }
  for (ast::Node* a : attrs) top().scope.push_back(a);
  for (Label l : field_order(sources_, v)) {
    bool show = false;
    switch (l.kind()) {
      case LabelKind::kString: show = regular; break;
      case LabelKind::kDefinition: show = p_.show_definitions; break;
      case LabelKind::kHidden:
      case LabelKind::kHiddenDefinition: show = p_.show_hidden && l == Label::ident(l.name(), package_); break;
      default: break;
    }
    if (!show) continue;
    Vertex* arc = v->find_raw(l);
    if (!arc || arc->arc_type > ArcType::kOptional) continue;
    if (arc->arc_type == ArcType::kOptional && !p_.show_optional) continue;
    auto* f = arena_.make<ast::Field>(label(l));
    top().fields[l.bits()].field = f;
    if (l.is_def()) ++in_definition_;
    f->constraint = arc_token(arc->arc_type);
    f->value = vertex(arc);
    if (l.is_def()) --in_definition_;
    if (p_.show_attributes) {
      std::vector<ast::Node*> list_attrs;
      for (const Conjunct& c : arc->conjuncts) field_attrs(list_attrs, c.x);
      f->attrs = make_nodes(arena_, list_attrs);
    }
    if (p_.show_docs) set_docs(f, arc);
    top().scope.push_back(f);
  }
  if (list) embed(list_composite(v));
  return take_scope();
}

}  // namespace tutti::cue
