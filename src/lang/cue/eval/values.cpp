#include <re2/re2.h>

#include <algorithm>

#include "lang/cue/builtin/regex.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/eval/print.h"
#include "lang/cue/eval/scalar.h"
#include "lang/cue/eval/validate.h"

namespace tutti::cue {

Validator::Validator(const Call* c, const Builtin* b, std::span<Node*> a)
    : Node(NodeType::kValidator, c ? c->src() : nullptr), call(c), builtin(b), args(a) {
  if (c) pos = c->pos;
}

Kinds Context::kinds(const Node* v) {
  if (!v) return kBottomKind;
  switch (v->type) {
    case NodeType::kNull: return kNullKind;
    case NodeType::kBool: return kBoolKind;
    case NodeType::kNum: return to<Num>(v)->kind;
    case NodeType::kString: return kStringKind;
    case NodeType::kBytes: return kBytesKind;
    case NodeType::kTop: return kTopKind;
    case NodeType::kBasicType: return to<BasicType>(v)->kind;
    case NodeType::kBound: {
      Kinds k = kinds(to<Bound>(v)->value);
      if (k & kNumberKind) return kNumberKind;
      if (k == kNullKind && to<Bound>(v)->op == Op::kNe) return kTopKind & ~kNullKind;
      return k;
    }
    case NodeType::kBuiltin: return kFuncKind;
    case NodeType::kValidator: {
      auto* b = to<Validator>(v)->builtin;
      return b->params.empty() ? kTopKind : b->params[0].kind;
    }
    case NodeType::kConjunction: {
      Kinds k = kTopKind;
      for (Node* x : to<Conjunction>(v)->values) k &= kinds(x);
      return k;
    }
    case NodeType::kDisjunction: {
      Kinds k = 0;
      for (Node* x : to<Disjunction>(v)->values) k |= kinds(x);
      return k;
    }
    case NodeType::kStructMarker: return kStructKind;
    case NodeType::kListMarker: return kListKind;
    case NodeType::kVertex: {
      const auto* first = to<Vertex>(v);
      const Vertex* x = first;
      while (true) {
        if (x->state && x->state->kind == kBottomKind) return kBottomKind;
        if (!x->base || x->base->type != NodeType::kVertex) break;
        x = to<Vertex>(x->base);
      }
      if (x->base && x->base != cycle) return kinds(x->base);
      if (first->state) return first->state->kind;
      return x->state ? x->state->kind : kTopKind;
    }
    default: return kBottomKind;
  }
}

// 0 an error, 1 concrete, 2 a constraint, 3 a type, 4 anything.
int Context::concreteness(const Node* v) {
  switch (v->type) {
    case NodeType::kBottom: return 0;
    case NodeType::kConjunction:
    case NodeType::kDisjunction:
    case NodeType::kBound:
    case NodeType::kValidator: return 2;
    case NodeType::kBasicType: return 3;
    case NodeType::kTop: return 4;
    case NodeType::kVertex: {
      const Vertex* x = to<Vertex>(v)->deref_value();
      return x->base ? concreteness(x->base) : 1;
    }
    default: return 1;
  }
}

const re2::RE2* Context::regexp(Node* v) {
  v = unwrap(v);
  if (!v || v->type == NodeType::kBottom) return nullptr;
  std::string_view pattern;
  if (v->type == NodeType::kString)
    pattern = to<String>(v)->text;
  else if (v->type == NodeType::kBytes)
    pattern = to<Bytes>(v)->text;
  else {
    add_errf(Code::kEval, src, "cannot use {} (type {}) as type {}", static_cast<const Node*>(v), kinds(v),
             Kinds(kStringKind | kBytesKind));
    return nullptr;
  }
  auto it = regexps_.find(pattern);
  if (it == regexps_.end()) {
    re2::RE2::Options o;
    o.set_log_errors(false);
    o.set_max_mem(16 << 20);
    // RE2 alone takes \C, and very large counts as text: what Go refuses is none here either.
    bool doubtful = pattern.find("\\C") != std::string_view::npos || pattern.find('{') != std::string_view::npos;
    std::string_view taken = doubtful && !compile_regex(pattern) ? "(" : pattern;
    it = regexps_
             .emplace(store.keep(pattern), std::make_unique<re2::RE2>(re2::StringPiece(taken.data(), taken.size()), o))
             .first;
  }
  if (!it->second->ok()) {
    std::string why;
    if (const re2::RE2* go = compile_regex(pattern, &why)) return go;  // what Go takes and RE2 spells otherwise
    add_errf(Code::kEval, src, "invalid regexp: {}", std::string_view(why));
    return nullptr;
  }
  return it->second.get();
}

namespace {

Bottom* check_concrete(Context& c, Node* v) {
  if (c.concreteness(v) > 1)
    return c.store.make<Bottom>(Code::kIncomplete,
                                c.error_at(c.src, "non-concrete value '{}'", static_cast<const Node*>(v)), c.vertex);
  if (v->type != NodeType::kVertex) return nullptr;
  auto* x = to<Vertex>(v);
  if (c.kinds(v) & kCompositeKinds) c.finalize(x);
  return validate_tree(c, x, {.concrete = true, .final = true});
}

bool compare_result(Op op, std::strong_ordering r) {
  switch (op) {
    case Op::kLt: return r < 0;
    case Op::kLe: return r <= 0;
    case Op::kEq: return r == 0;
    case Op::kNe: return r != 0;
    case Op::kGe: return r >= 0;
    case Op::kGt: return r > 0;
    default: return false;
  }
}

}  // namespace

Node* Context::binop(Op op, Node* left, Node* right) {
  Kinds lk = kinds(left), rk = kinds(right);
  for (int side = 0; side < 2; ++side)
    if (Bottom* b = check_concrete(*this, side ? right : left)) {
      Bottom* out = side ? fail("invalid right-hand value to '{}' (type {})", op, lk)
                         : fail("invalid left-hand value to '{}' (type {})", op, lk);
      out->error->wrapped = b->error;
      out->code = b->code;
      return out;
    }
  if (Bottom* b = combine(as_bottom(left), as_bottom(right))) return b;
  Node *l = unwrap(left), *r = unwrap(right);
  if (!l || !r) return fail("undefined operand");
  auto both = [&](Kinds k) { return lk & k && rk & k && !(lk & ~k) && !(rk & ~k); };
  auto numbers = [&] { return l->type == NodeType::kNum && r->type == NodeType::kNum; };
  auto strings = [&] { return lk == kStringKind && rk == kStringKind; };
  auto bytes = [&] { return lk == kBytesKind && rk == kBytesKind; };
  auto text = [&](Node* n) { return n->type == NodeType::kString ? to<String>(n)->text : to<Bytes>(n)->text; };
  auto arithmetic = [&](DecimalResult (*f)(const Decimal&, const Decimal&)) -> Node* {
    if (errs) return take_err();
    DecimalResult d = f(to<Num>(l)->value, to<Num>(r)->value);
    if (!d.ok()) return fail("failed arithmetic: {}", std::string_view(d.error));
    Kinds k = to<Num>(l)->kind & to<Num>(r)->kind;
    if (!k || op == Op::kQuo) k = kFloatKind;
    auto* n = store.num(k, d.value);
    n->pos = src;
    return n;
  };
  switch (op) {
    case Op::kEq:
    case Op::kNe: {
      bool same;
      if (numbers())
        same = to<Num>(l)->value == to<Num>(r)->value;
      else if (lk != rk)
        same = false;
      else if (lk == kNullKind)
        same = true;
      else if (lk == kBoolKind)
        same = to<Bool>(l)->value == to<Bool>(r)->value;
      else if (strings() || bytes())
        same = text(l) == text(r);
      else if (lk == kListKind || lk == kStructKind)
        same = equal(left, right, false, true);
      else
        break;
      return make_bool(same == (op == Op::kEq));
    }
    case Op::kLt:
    case Op::kLe:
    case Op::kGe:
    case Op::kGt:
      if (strings() || bytes()) return make_bool(compare_result(op, text(l).compare(text(r)) <=> 0));
      if (numbers()) return make_bool(compare_result(op, to<Num>(l)->value <=> to<Num>(r)->value));
      break;
    case Op::kLand: {
      bool a = bool_value(left, op);
      return make_bool(a && bool_value(right, op));
    }
    case Op::kLor: {
      bool a = bool_value(left, op);
      return make_bool(a || errs || bool_value(right, op));
    }
    case Op::kMatch:
    case Op::kNotMatch: {
      const re2::RE2* re = regexp(right);
      if (l->type != NodeType::kString && l->type != NodeType::kBytes) {
        add_errf(Code::kEval, src, "cannot use {} (type {}) as type {} in {}", static_cast<const Node*>(l), lk,
                 Kinds{kStringKind}, op);
        return make_bool(false);
      }
      if (l->type == NodeType::kBytes) {
        add_errf(Code::kEval, src, "cannot use {} (type {}) as type {} in {}", static_cast<const Node*>(l), lk,
                 Kinds{kStringKind}, op);
        return make_bool(false);
      }
      std::string_view s = text(l);
      bool m = re && re2::RE2::PartialMatch(re2::StringPiece(s.data(), s.size()), *re);
      return make_bool(m == (op == Op::kMatch));
    }
    case Op::kAdd:
      if (numbers()) return arithmetic(decimal::add);
      if (strings() || bytes()) {
        check_text(text(l).size() + text(r).size());
        std::string out(text(l));
        out += text(r);
        if (errs) return take_err();
        return strings() ? make_string(out) : make_bytes(out);
      }
      if (both(kListKind))
        return fail("Addition of lists is superseded by list.Concat; see https://cuelang.org/e/v0.11-list-arithmetic");
      break;
    case Op::kSub: {
      Num *a = num(left, op), *b = num(right, op);
      if (!a || !b) return take_err();
      return arithmetic(decimal::sub);
    }
    case Op::kMul: {
      if (numbers()) return arithmetic(decimal::mul);
      Node *s = l, *n = r;
      if (l->type == NodeType::kNum) std::swap(s, n);
      if ((s->type == NodeType::kString || s->type == NodeType::kBytes) && n->type == NodeType::kNum &&
          to<Num>(n)->kind == kIntKind) {
        bool is_string = s->type == NodeType::kString;
        std::string_view as = is_string ? "string multiplication" : "bytes multiplication";
        i64 count = uint(n, as);
        if (count > 1'000'000) {
          add_errf(Code::kEval, src, "{} count {} exceeds limit of {}", as, count, i64{1'000'000});
          count = 0;
        }
        check_text(static_cast<u64>(count) * text(s).size());
        std::string out;
        for (i64 i = 0; i < count; ++i) out += text(s);
        if (errs) return take_err();
        return is_string ? make_string(out) : make_bytes(out);
      }
      if ((lk == kIntKind && rk == kListKind) || (lk == kListKind && rk == kIntKind))
        return fail(
            "Multiplication of lists is superseded by list.Repeat; see https://cuelang.org/e/v0.11-list-arithmetic");
      break;
    }
    case Op::kQuo:
      if (numbers()) return arithmetic(decimal::quo);
      break;
    default: break;
  }
  return fail("invalid operands {} and {} to '{}' (type {} and {})", static_cast<const Node*>(left),
              static_cast<const Node*>(right), op, lk, rk);
}

bool Context::binop_bool(Op op, Node* left, Node* right) {
  // the common cases without going through nodes
  if (left->type == right->type) {
    if (left->type == NodeType::kNum) return compare_result(op, to<Num>(left)->value <=> to<Num>(right)->value);
    if (left->type == NodeType::kString && op != Op::kMatch && op != Op::kNotMatch)
      return compare_result(op, to<String>(left)->text.compare(to<String>(right)->text) <=> 0);
  }
  Node* v = binop(op, left, right);
  return v && v->type == NodeType::kBool && to<Bool>(v)->value;
}

// ---- bounds

namespace {
// The class of an operator: bounds of one class may replace each other; lower and upper are opposite.
int op_class(Op op) {
  switch (op) {
    case Op::kGt:
    case Op::kGe: return 1;
    case Op::kLt:
    case Op::kLe: return -1;
    case Op::kEq: return 4;
    case Op::kMatch: return 2;
    case Op::kNotMatch: return 3;
    default: return 0;
  }
}
}  // namespace

// One bound for two, an error when nothing satisfies both, or nullptr to keep them.
Node* Context::simplify_bounds(Kinds k, Bound* x, Bound* y) {
  Node *xv = x->value, *yv = y->value;
  int xc = op_class(x->op), yc = op_class(y->op);
  if (xc == yc) {
    switch (x->op) {
      case Op::kEq:
      case Op::kNe:
      case Op::kMatch:
      case Op::kNotMatch: return binop_bool(Op::kEq, xv, yv) ? x : nullptr;
      default: break;
    }
    Op cmp = x->op == Op::kGt ? Op::kGe : x->op == Op::kGe ? Op::kGt : x->op == Op::kLt ? Op::kLe : Op::kLt;
    return binop_bool(cmp, xv, yv) ? x : y;
  }
  if (xc == -yc && xc != 0) {
    if (xc == -1) {
      std::swap(x, y);
      std::swap(xv, yv);
    }
    const Node *cx = x, *cy = y;
    if (k == kStringKind || k == kBytesKind) {
      NodeType t = k == kStringKind ? NodeType::kString : NodeType::kBytes;
      if (xv->type != t || yv->type != t) return nullptr;
      std::string_view a = t == NodeType::kString ? to<String>(xv)->text : to<Bytes>(xv)->text;
      std::string_view b = t == NodeType::kString ? to<String>(yv)->text : to<Bytes>(yv)->text;
      int d = a.compare(b);
      if (d < 0 || (d == 0 && x->op == Op::kGe && y->op == Op::kLe)) return nullptr;
      return k == kStringKind ? fail("incompatible string bounds {} and {}", cy, cx)
                              : fail("incompatible bytes bounds {} and {}", cy, cx);
    }
    if (xv->type != NodeType::kNum || yv->type != NodeType::kNum) return nullptr;
    Decimal lo = to<Num>(xv)->value, hi = to<Num>(yv)->value;
    bool whole = !(k & kFloatKind);
    if (whole) {
      if (lo.exponent() < 0) lo = decimal::to_integral(lo, x->op == Op::kGe ? Rounding::kCeiling : Rounding::kFloor);
      if (hi.exponent() < 0) hi = decimal::to_integral(hi, y->op == Op::kLe ? Rounding::kFloor : Rounding::kCeiling);
    }
    auto clash = [&] {
      return k == kIntKind ? fail("incompatible integer bounds {} and {}", cy, cx)
                           : fail("incompatible number bounds {} and {}", cy, cx);
    };
    DecimalResult d = decimal::sub(hi, lo);
    // numbers that are too far from each other to be subtracted in the digits there are stay as they are, as in cue
    if (!d.ok() || decimal::add(d.value, lo).value != hi) return nullptr;
    if (d.value.sign() < 0) return clash();
    auto n = d.value.to_i64();
    if (!n) return nullptr;
    if (*n == 0) return x->op == Op::kGe && y->op == Op::kLe ? nullptr : static_cast<Node*>(clash());
    if (*n == 1 && whole && x->op == Op::kGt && y->op == Op::kLt)
      return fail("incompatible integer bounds {} and {}", cx, cy);
    return nullptr;
  }
  if (x->op == Op::kEq) return binop_bool(y->op, xv, yv) ? x : nullptr;
  if (y->op == Op::kEq) return binop_bool(x->op, yv, xv) ? y : nullptr;
  if (x->op == Op::kNe) return !binop_bool(y->op, xv, yv) ? y : nullptr;
  if (y->op == Op::kNe) return !binop_bool(x->op, yv, xv) ? x : nullptr;
  return nullptr;
}

// A value as it is now, for a message: where a vertex has failed its own value is the failure.
const Node* Context::as_it_is(Node* v) {
  Node* u = unwrap(v);
  if (u && is_scalar(u)) return u;
  if (v->type != NodeType::kVertex) return v;
  Vertex* whole = to<Vertex>(v)->deref_value();
  return whole->base == struct_marker || whole->is_list() ? whole->copy(store) : v;
}

Bottom* Context::validate(const Conjunct& check, Node* v) {
  Restore<Pos> s(src, check.x->pos ? check.x->pos : src);
  Restore<CloseInfo> c(ci, check.ci);
  Restore<Environment*> en(e, check.env);
  if (check.x->type == NodeType::kBound) {
    auto* b = to<Bound>(check.x);
    if (errs) return take_err();
    Node* u = unwrap(v);
    if (u && u->type == b->value->type && (u->type == NodeType::kNum || u->type == NodeType::kString) &&
        b->op != Op::kMatch && b->op != Op::kNotMatch) {
      if (binop_bool(b->op, u, b->value)) return nullptr;
    } else {
      Node* r = binop(b->op, v, b->value);
      if (!r) return take_err();
      if (r->type == NodeType::kBottom) return to<Bottom>(r);
      if (to<Bool>(r)->value) return nullptr;
    }
    return bottom(Code::kEval, src, "invalid value {} (out of bound {})", as_it_is(v), static_cast<const Node*>(b));
  }
  auto* x = to<Validator>(check.x);
  std::vector<Node*> args{v};
  args.insert(args.end(), x->args.begin(), x->args.end());
  std::vector<Node*> shown(args.begin() + 1, args.end());
  Node* r = call_builtin(x->builtin, x->call, std::move(args), true);
  Code code = Code::kEval;
  Error* cause = nullptr;
  if (!r) return nullptr;
  if (r->type == NodeType::kBottom) {
    code = to<Bottom>(r)->code;
    cause = to<Bottom>(r)->error;
  } else if (r->type == NodeType::kBool) {
    if (to<Bool>(r)->value) return nullptr;
  } else {
    return fail("invalid validator {}", std::string_view(store.keep(std::string_view(x->builtin->qualified()))));
  }
  if (Node* u = unwrap(v); u && u->type == NodeType::kBottom) return to<Bottom>(u);
  // A function that takes a schema is told by its name: its arguments may be large.
  const Builtin* f = x->builtin;
  std::string check_shown = f->qualified();
  if (!f->non_concrete && f->params.size() > 1) {
    check_shown += '(';
    for (std::size_t i = 0; i < shown.size(); ++i) check_shown += (i ? ", " : "") + compact(shown[i]);
    check_shown += ')';
  }
  const Node* value = as_it_is(v);
  Pos at = !x->call ? Pos{} : x->pos ? x->pos : src;  // of a name alone: with the other places
  Bottom* out =
      bottom(code, at, "invalid value {} (does not satisfy {})", value, std::string_view(store.keep(check_shown)));
  std::vector<Pos> places;
  if (!x->call && x->pos) places.push_back(x->pos);
  for (const Node* a : shown)
    if (a->pos && a->type != NodeType::kVertex) places.push_back(a->pos);
  out->error->others = store.keep(places);
  // What the schemas of matchN say about a value is told beside what it makes of that.
  Error* beside = nullptr;
  if (cause && cause->left && f->package.empty()) beside = cause->right, cause = cause->left;
  out->error->wrapped = cause;
  out->error = join(out->error, beside);
  return out;
}

// ---- equality

bool Context::equal(Node* v, Node* w, bool structural, bool regular_only) {
  Level level(*this);
  if (!structural) {
    v = default_of(v);
    w = default_of(w);
  }
  bool vv = v->type == NodeType::kVertex, wv = w->type == NodeType::kVertex;
  if (vv != wv) {  // a value, and a vertex that is no more than one
    Vertex* x = to<Vertex>(vv ? v : w)->deref_value();
    if (!x->arcs.empty() || !x->base || !x->base->is_value() || x->arc_type != ArcType::kMember) return false;
    return equal(vv ? x->base : v, vv ? w : x->base, structural, regular_only);
  }
  if (vv) {
    auto *x = to<Vertex>(v), *y = to<Vertex>(w);
    if (x->arc_type != y->arc_type) return false;
    x = x->deref_value();
    y = y->deref_value();
    if (x == y) return true;
    if (kinds(x) != kinds(y)) return false;
    ArcType most = structural ? ArcType::kOptional : ArcType::kRequired;
    if (structural && (x->is_closed_struct() != y->is_closed_struct() || x->is_closed_list() != y->is_closed_list()))
      return false;
    auto counts = [&](Vertex* a) { return !(regular_only && !a->label.is_regular()) && a->arc_type <= most; };
    for (Vertex* a : x->arcs) {
      if (!counts(a)) continue;
      Vertex* b = y->find_raw(a->label);
      if (!b || a->arc_type != b->arc_type || !equal(a, b, structural, regular_only)) return false;
    }
    for (Vertex* b : y->arcs) {
      if (!counts(b)) continue;
      Vertex* a = x->find_raw(b->label);
      if (!a || a->arc_type > most) return false;
    }
    bool xv = x->base && x->base->is_value(), yv = y->base && y->base->is_value();
    if (!xv && !yv) return true;
    if (!xv || !yv) return false;
    v = x->base;
    w = y->base;
  }
  if (v == w) return true;
  auto all = [&](std::span<Node*> a, std::span<Node*> b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!equal(a[i], b[i], structural, regular_only)) return false;
    return true;
  };
  switch (v->type) {
    case NodeType::kBottom:
    case NodeType::kTop: return v->type == w->type;
    case NodeType::kNum:
      return w->type == NodeType::kNum && to<Num>(v)->kind == to<Num>(w)->kind &&
             to<Num>(v)->value == to<Num>(w)->value;
    case NodeType::kString: return w->type == v->type && to<String>(v)->text == to<String>(w)->text;
    case NodeType::kBytes: return w->type == v->type && to<Bytes>(v)->text == to<Bytes>(w)->text;
    case NodeType::kBool: return w->type == v->type && to<Bool>(v)->value == to<Bool>(w)->value;
    case NodeType::kNull: return w->type == v->type;
    case NodeType::kBound:
      return w->type == v->type && to<Bound>(v)->op == to<Bound>(w)->op &&
             equal(to<Bound>(v)->value, to<Bound>(w)->value, structural, regular_only);
    case NodeType::kBasicType: return w->type == v->type && to<BasicType>(v)->kind == to<BasicType>(w)->kind;
    case NodeType::kConjunction:
      return w->type == v->type && all(to<Conjunction>(v)->values, to<Conjunction>(w)->values);
    case NodeType::kDisjunction:
      return w->type == v->type && all(to<Disjunction>(v)->values, to<Disjunction>(w)->values);
    case NodeType::kValidator:
      return w->type == v->type && to<Validator>(v)->builtin == to<Validator>(w)->builtin &&
             all(to<Validator>(v)->args, to<Validator>(w)->args);
    default: return false;
  }
}

}  // namespace tutti::cue
