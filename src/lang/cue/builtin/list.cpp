#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "lang/cue/builtin/data.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/eval/print.h"
#include "lang/cue/eval/validate.h"

namespace tutti::cue {

namespace {

constexpr i64 kMaxRepeat = 1'000'000;

// The numbers of list argument 0.
std::vector<Decimal> numbers(CallContext& c) {
  std::vector<Decimal> out;
  std::size_t i = 0;
  for (Node* n : c.list(0)) {
    n = plain(c.context.default_of(n));
    if (n->type == NodeType::kBottom) {
      c.context.add_bottom(to<Bottom>(n));
      return {};
    }
    if (n->type != NodeType::kNum && c.context.concreteness(n) > 1 && c.context.kinds(n) & kNumberKind) {
      c.context.add_errf(Code::kIncomplete, n->pos,
                         "error in call to {}: non-concrete value {} for element {} of number list argument 0",
                         std::string_view(c.builtin->qualified()), static_cast<const Node*>(n), static_cast<i64>(i));
      return {};
    }
    if (n->type != NodeType::kNum) {
      c.report(c.context.bottom(Code::kEval, {},
                                "invalid list element {} in argument 0 to call: cannot use value {} ({}) as number",
                                static_cast<i64>(i), static_cast<const Node*>(n), c.context.kinds(n)));
      return {};
    }
    out.push_back(to<Num>(n)->value);
    ++i;
  }
  return out;
}

void flatten_into(CallContext& c, Node* list, i64 depth, std::vector<Node*>& out) {
  for (Node* n : list_items(c, list)) {
    Node* v = c.context.default_of(n);
    if (depth != 0 && concrete_kind(v) == kListKind)
      flatten_into(c, v, depth - 1, out);
    else
      out.push_back(v);
    check_list(out.size());
  }
}

// x, y.a.b and the like: a way into one of the operands of a comparer.
bool leads_into_operand(const Node* n) {
  while (n->type == NodeType::kSelector) n = to<Selector>(n)->x;
  return n->type == NodeType::kFieldRef && to<FieldRef>(n)->up == 0 &&
         (to<FieldRef>(n)->label == Label::string("x") || to<FieldRef>(n)->label == Label::string("y"));
}

// Of {x: {}, y: {}, less: x.a < y.a} the comparison; nullptr where the comparer says more than that.
const Node* plain_comparison(const StructLit* s) {
  const Node* less = nullptr;
  for (const Node* d : s->decls) {
    if (d->type != NodeType::kField || to<Field>(d)->arc != ArcType::kMember) return nullptr;
    const auto* f = to<Field>(d);
    const Node* v = f->value;
    if (f->label == Label::string("less")) {
      bool compares = !less && v->type == NodeType::kBinary &&
                      (to<Binary>(v)->op == Op::kLt || to<Binary>(v)->op == Op::kGt) &&
                      leads_into_operand(to<Binary>(v)->x) && leads_into_operand(to<Binary>(v)->y);
      if (!compares) return nullptr;
      less = v;
    } else {
      bool any_struct = v->type == NodeType::kStruct && to<StructLit>(v)->decls.empty();
      if (!any_struct || !(f->label == Label::string("x") || f->label == Label::string("y"))) return nullptr;
    }
  }
  return less;
}

bool refers_to(const Node* n, std::string_view name) {
  return n->type == NodeType::kFieldRef && to<FieldRef>(n)->up == 0 && to<FieldRef>(n)->label == Label::string(name);
}

bool is_number_or_string(const Node* n) {
  if (n->type != NodeType::kDisjunctionExpr) return false;
  Kinds all = 0;
  for (const Disjunct& d : to<DisjunctionExpr>(n)->values) {
    if (d.marked || d.value->type != NodeType::kBasicType) return false;
    all |= to<BasicType>(d.value)->kind;
  }
  return all == (kNumberKind | kStringKind);
}

// list.Ascending and list.Descending, {T: number | string, x: T, y: T, less: bool & x < y}: kLt, kGt; kNone for others.
Op order_of_scalars(const StructLit* s) {
  Op order = Op::kNone;
  bool type = false, x = false, y = false;
  for (const Node* d : s->decls) {
    if (d->type != NodeType::kField || to<Field>(d)->arc != ArcType::kMember) return Op::kNone;
    const auto* f = to<Field>(d);
    const Node* v = f->value;
    if (f->label == Label::string("T") && is_number_or_string(v)) {
      type = true;
    } else if (f->label == Label::string("x") && refers_to(v, "T")) {
      x = true;
    } else if (f->label == Label::string("y") && refers_to(v, "T")) {
      y = true;
    } else if (f->label == Label::string("less") && v->type == NodeType::kBinary) {
      const auto* b = to<Binary>(v);
      bool truth = b->op == Op::kAnd && b->x->type == NodeType::kBasicType && to<BasicType>(b->x)->kind == kBoolKind;
      if (truth && b->y->type == NodeType::kBinary) b = to<Binary>(b->y);
      if ((b->op != Op::kLt && b->op != Op::kGt) || !refers_to(b->x, "x") || !refers_to(b->y, "y")) return Op::kNone;
      order = b->op;
    } else {
      return Op::kNone;
    }
  }
  return type && x && y && s->decls.size() == 4 ? order : Op::kNone;
}

// Orders by a comparer {x, y, less}: each comparison unifies x and y with the two values and looks at less.
class Comparer {
 public:
  explicit Comparer(CallContext& c) : c_(c) {
    Node* given = c.context.unwrap(c.context.default_of(c.args[1]));
    bool open = given && (given->type == NodeType::kTop || given->type == NodeType::kBasicType);
    if (open && c.context.kinds(given) & kStructKind) {  // it may become one
      c.context.add_errf(Code::kIncomplete, c.context.src, "error in call to {}: non-concrete argument 1",
                         std::string_view(c.builtin->qualified()));
      return;
    }
    cmp_ = c.structure(1);
    if (cmp_ && !cmp_->deref_value()->find_raw(Label::string("less"))) error_ = c.error("field not found: less");
    if (!ok()) return;
    const Vertex* v = cmp_->deref_value();
    if (v->conjuncts.size() != 1 || v->closed_recursive || v->closed_once) return;
    const KeptConjunct& only = v->conjuncts[0];
    Node* x = expression_of(only.x);
    if (x->type != NodeType::kStruct) return;
    order_ = order_of_scalars(to<StructLit>(x));
    comparison_ = const_cast<Node*>(plain_comparison(to<StructLit>(x)));
    if (comparison_) make_scope(only.env);
  }
  Node* error() const { return error_; }
  bool ok() const { return cmp_ && !error_; }

  bool less(Node* a, Node* b) {
    if (error_) return false;
    if (std::optional<bool> known = order_ != Op::kNone ? less_scalar(a, b) : quick_less(a, b)) return *known;
    Context& ctx = c_.context;
    if (!operands_) {
      x_ = ctx.store.make<Field>(Label::string("x"), ArcType::kMember, a, nullptr);
      y_ = ctx.store.make<Field>(Label::string("y"), ArcType::kMember, b, nullptr);
      operands_ = ctx.store.make<StructLit>();
      operands_->decls = ctx.store.keep(std::vector<Node*>{x_, y_});
      scope_ = ctx.arena.make<Environment>();
    }
    x_->value = a, y_->value = b;
    Vertex* n = ctx.new_vertex();
    n->parent = cmp_->parent;
    n->label = cmp_->label;
    Vertex* v = cmp_->deref_value();
    for (const KeptConjunct& k : v->conjuncts) n->conjuncts.push(ctx.arena, k);
    n->conjuncts.push(ctx.arena, Conjunct{scope_, operands_, {}});
    ctx.finalize(n);
    Vertex* result = n->find_raw(Label::string("less"));
    Node* r = result ? plain(ctx.default_of(result)) : nullptr;
    if (r && r->type == NodeType::kBool) {
      bool answer = to<Bool>(r)->value;
      ctx.reclaim_all(n);
      return answer;
    }
    if (r && r->type == NodeType::kBottom)
      error_ = r;
    else
      error_ = c_.error("less is not a boolean");
    return false;
  }

 private:
  void make_scope(Environment* around) {
    Context& ctx = c_.context;
    Vertex* v = ctx.new_vertex();
    for (Vertex*& side : sides_) {
      side = ctx.new_vertex();
      side->label = Label::string(&side == sides_ ? "x" : "y");
      side->parent = v;
      side->status = Status::kFinalized;
      v->add_arc(ctx.arena, side);
    }
    v->base = ctx.struct_marker;
    v->status = Status::kFinalized;
    inside_ = ctx.new_env(around, v);
  }

  // A comparison of fields of structs that are there is looked up, with nothing unified.
  std::optional<bool> quick_less(Node* a, Node* b) {
    Context& ctx = c_.context;
    auto is_struct = [&](Node* n) {
      return n->type == NodeType::kVertex && to<Vertex>(n)->deref_value()->status == Status::kFinalized &&
             to<Vertex>(n)->deref_value()->base == ctx.struct_marker;
    };
    if (!comparison_ || !is_struct(a) || !is_struct(b)) return {};
    sides_[0]->base = to<Vertex>(a)->deref_value();
    sides_[1]->base = to<Vertex>(b)->deref_value();
    EvalScope scope(ctx, inside_, comparison_->pos);
    Node* r = ctx.value(comparison_, {Status::kFinalized, kScalarKnown, Mode::kFinalize});
    if (scope.pop() || !r || r->type != NodeType::kBool) return {};
    return to<Bool>(r)->value;
  }

  // Two scalars of a kind in the order that the package has a name for need nothing unified either.
  std::optional<bool> less_scalar(Node* a, Node* b) {
    c_.context.budget.step();
    a = plain(a), b = plain(b);
    if (order_ == Op::kGt) std::swap(a, b);
    if (a->type == NodeType::kNum && b->type == NodeType::kNum) return to<Num>(a)->value < to<Num>(b)->value;
    if (a->type == NodeType::kString && b->type == NodeType::kString) return to<String>(a)->text < to<String>(b)->text;
    if (a->type == NodeType::kBytes && b->type == NodeType::kBytes) return to<Bytes>(a)->text < to<Bytes>(b)->text;
    return {};
  }

  CallContext& c_;
  Vertex* cmp_ = nullptr;
  Node* error_ = nullptr;
  Op order_ = Op::kNone;        // of list.Ascending and list.Descending
  Node* comparison_ = nullptr;  // where it is all that the comparer says
  Vertex* sides_[2] = {};
  Environment* inside_ = nullptr;
  // {x: A, y: B}, made once: of one comparison nothing is left when the next begins
  StructLit* operands_ = nullptr;
  Field *x_ = nullptr, *y_ = nullptr;
  Environment* scope_ = nullptr;
};

Node* sort(CallContext& c) {
  std::vector<Node*> items = c.list(0);
  if (c.failed()) return nullptr;
  Comparer cmp(c);
  if (!cmp.ok()) return cmp.error();
  // Merge sort by hand: a comparer that contradicts itself must do no harm.
  std::vector<Node*> other(items.size());
  for (std::size_t width = 1; width < items.size() && !cmp.error(); width *= 2) {
    for (std::size_t at = 0; at < items.size(); at += 2 * width) {
      std::size_t l = at, m = std::min(at + width, items.size()), r = m, end = std::min(at + 2 * width, items.size()),
                  o = at;
      while (l < m || r < end) {
        bool right = l >= m || (r < end && cmp.less(items[r], items[l]));
        other[o++] = items[right ? r++ : l++];
      }
    }
    items.swap(other);
  }
  if (cmp.error() && !c.context.what_is_open(c.args[0])) {  // the comparer is always open
    c.report(to<Bottom>(cmp.error()));
    return nullptr;
  }
  if (cmp.error()) return cmp.error();
  return c.make_list(items);
}

// Nothing can be added to it any more.
bool is_final(Node* n) {
  switch (n->type) {
    case NodeType::kNull:
    case NodeType::kBool:
    case NodeType::kNum:
    case NodeType::kString:
    case NodeType::kBytes: return true;
    case NodeType::kBottom: return to<Bottom>(n)->code < Code::kIncomplete;
    case NodeType::kVertex: break;
    default: return false;
  }
  Vertex* v = to<Vertex>(n);
  bool closed = v->closed_recursive || v->closed_once;
  v = v->deref_value();
  if (v->base && v->base->is_value()) return is_final(v->base);
  if (!closed && !v->closed_recursive && !v->closed_once) return false;
  for (Vertex* a : v->arcs)
    if (a->label.is_regular() && ((a->arc_type > ArcType::kMember && !a->is_err()) || !is_final(a))) return false;
  return true;
}

// The same for values that are equal when their defaults are taken; of others mostly not.
u64 fingerprint(Context& c, Node* n, int depth) {
  n = c.chosen(n);
  u64 h = 0x9e3779b97f4a7c15u;
  if (n->type == NodeType::kVertex) {
    const Vertex* v = to<Vertex>(n)->deref_value();
    for (const Vertex* a : v->arcs) {
      if (depth == 0 || !a->label.is_regular() || a->arc_type > ArcType::kRequired) continue;
      u64 k = (fingerprint(c, const_cast<Vertex*>(a), depth - 1) ^ a->label.bits()) * 0xbf58476d1ce4e5b9u;
      h += k ^ k >> 29;
    }
    n = v->base;
  }
  if (n && n->type == NodeType::kString) h ^= std::hash<std::string_view>()(to<String>(n)->text);
  if (n && n->type == NodeType::kNum)
    if (auto i = to<Num>(n)->value.to_i64()) h ^= static_cast<u64>(*i) * 0x100000001b3u;
  return h;
}

// Two that are equal are an error once they are final; before, one of them may still become another.
Node* unique_items(CallContext& c) {
  std::vector<Node*> items = c.list(0);
  if (c.failed()) return nullptr;
  std::size_t x = 0, y = 0;
  Code code = Code::kIncomplete;
  std::unordered_map<u64, std::vector<std::size_t>> alike;
  std::vector<u64> prints;
  for (std::size_t i = 0; i < items.size(); ++i) {
    prints.push_back(fingerprint(c.context, plain(items[i]), 4));
    alike[prints[i]].push_back(i);
  }
  for (std::size_t i = 0; i < items.size() && code == Code::kIncomplete; ++i)
    for (std::size_t j : alike[prints[i]]) {
      if (j <= i || code != Code::kIncomplete) continue;
      if (!c.context.equal(plain(items[i]), plain(items[j]), false, true)) continue;
      x = i, y = j;
      if (is_final(items[j])) code = Code::kEval;
    }
  if (x == y) return c.make_bool(true);
  Kinds kind = concrete_kind(items[x]);
  std::string text = kind != 0 && kind != kListKind && kind != kStructKind
                         ? fmt::format("equal value ({}) at position {} and {}", compact(plain(items[x])), x, y)
                         : fmt::format("equal values at position {} and {}", x, y);
  return validation_error(c, code, text);
}

bool is_open_list(CallContext& c, std::size_t i) {
  Node* n = plain(c.args[i]);
  return n->type == NodeType::kVertex && to<Vertex>(n)->is_list() && !to<Vertex>(n)->is_closed_list();
}

Node* aggregate(CallContext& c, Decimal start, DecimalResult (*f)(const Decimal&, const Decimal&)) {
  std::vector<Decimal> xs = numbers(c);
  if (c.failed()) return nullptr;
  DecimalResult r{start};
  for (const Decimal& x : xs) {
    r = f(x, r.value);
    if (!r.ok()) break;
  }
  return number_result(c, r);
}

Node* extreme(CallContext& c, bool max) {
  std::vector<Decimal> xs = numbers(c);
  if (c.failed()) return nullptr;
  if (xs.empty()) return c.error("empty list");
  Decimal best = xs[0];
  for (const Decimal& x : xs)
    if (max ? x > best : x < best) best = x;
  return number_result(c, best);
}

const BuiltinSpec kFunctions[] = {
    {"Drop",
     {kListKind, kIntKind},
     kListKind,
     [](CallContext& c) -> Node* {
       std::vector<Node*> x = c.list(0);
       i64 n = c.integer(1);
       if (c.failed()) return nullptr;
       if (n < 0) return c.error("negative index");
       std::size_t k = std::min<std::size_t>(static_cast<std::size_t>(n), x.size());
       return c.make_list(std::span(x).subspan(k));
     }},
    {"FlattenN",
     {kTopKind, kIntKind},
     kListKind,
     [](CallContext& c) -> Node* {
       std::vector<Node*> out;
       i64 depth = c.integer(1);
       if (c.failed()) return nullptr;
       flatten_into(c, c.args[0], depth, out);
       return c.failed() ? nullptr : c.make_list(out);
     }},
    {"Repeat",
     {kListKind, kIntKind},
     kListKind,
     [](CallContext& c) -> Node* {
       std::vector<Node*> x = c.list(0), out;
       i64 n = c.integer(1);
       if (c.failed()) return nullptr;
       if (n < 0) return c.error("negative count");
       if (n > kMaxRepeat) return c.error(fmt::format("count {} exceeds limit of {}", n, kMaxRepeat));
       check_list(static_cast<u64>(n) * x.size());
       for (i64 i = 0; i < n; ++i) out.insert(out.end(), x.begin(), x.end());
       return c.make_list(out);
     }},
    {"Concat",
     {kListKind},
     kListKind,
     [](CallContext& c) -> Node* {
       std::vector<Node*> out;
       for (Node* l : c.list(0))
         for (Node* n : list_items(c, l)) {
           check_list(out.size());
           out.push_back(n);
         }
       return c.failed() ? nullptr : c.make_list(out);
     }},
    {"Take",
     {kListKind, kIntKind},
     kListKind,
     [](CallContext& c) -> Node* {
       std::vector<Node*> x = c.list(0);
       i64 n = c.integer(1);
       if (c.failed()) return nullptr;
       if (n < 0) return c.error("negative index");
       return c.make_list(std::span(x).first(std::min<std::size_t>(static_cast<std::size_t>(n), x.size())));
     }},
    {"Slice",
     {kListKind, kIntKind, kIntKind},
     kListKind,
     [](CallContext& c) -> Node* {
       std::vector<Node*> x = c.list(0);
       i64 i = c.integer(1), j = c.integer(2), n = static_cast<i64>(x.size());
       if (c.failed()) return nullptr;
       if (i < 0) return c.error("negative index");
       if (i > j) return c.error(fmt::format("invalid index: {} > {}", i, j));
       if (i > n || j > n) return c.error("slice bounds out of range");
       return c.make_list(std::span(x).subspan(static_cast<std::size_t>(i), static_cast<std::size_t>(j - i)));
     }},
    {"Reverse",
     {kListKind},
     kListKind,
     [](CallContext& c) -> Node* {
       std::vector<Node*> x = c.list(0);
       std::reverse(x.begin(), x.end());
       return c.failed() ? nullptr : c.make_list(x);
     }},
    {"MinItems",
     {kListKind, kIntKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       i64 count = static_cast<i64>(c.list(0).size()), n = c.integer(1);
       if (c.failed()) return nullptr;
       if (count >= n) return c.make_bool(true);
       return validation_error(c, is_open_list(c, 0) ? Code::kIncomplete : Code::kEval,
                               fmt::format("len(list) < MinItems({}) ({} < {})", n, count, n));
     }},
    {"MaxItems",
     {kListKind, kIntKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       i64 count = static_cast<i64>(c.list(0).size()), n = c.integer(1);
       if (c.failed()) return nullptr;
       if (count <= n) return c.make_bool(true);
       return validation_error(c, Code::kEval, fmt::format("len(list) > MaxItems({}) ({} > {})", n, count, n));
     }},
    {"UniqueItems", {kListKind}, kBoolKind, unique_items},
    {"Contains",
     {kListKind, kTopKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       bool found = false;
       if (c.args[1]->type == NodeType::kVertex) c.context.finalize(to<Vertex>(c.args[1]));
       for (Node* n : c.list(0))
         found = found || c.context.equal(plain(c.context.default_of(n)), plain(c.args[1]), false, true);
       return c.failed() ? nullptr : c.make_bool(found);
     }},
    {"MatchN",
     {kListKind, kTopKind, kTopKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       i64 count = 0;
       for (Node* n : c.list(0)) {
         Vertex* v = c.context.unify_values(c.args[2], n);
         ValidateConfig config;
         config.final = true;
         if (v && !v->is_err() && !validate_tree(c.context, v, config)) ++count;
       }
       if (c.failed()) return nullptr;
       Vertex* wanted = c.context.unify_values(c.args[1], c.make_int(count));
       if (wanted && !wanted->is_err()) return c.make_bool(true);
       return validation_error(
           c, Code::kEval,
           fmt::format("{} matches {} list items, want {}", compact(c.args[2]), count, compact(c.args[1])));
     },
     true},
    {"Avg",
     {kListKind},
     kNumberKind,
     [](CallContext& c) -> Node* {
       std::vector<Decimal> xs = numbers(c);
       if (c.failed()) return nullptr;
       if (xs.empty()) return c.error("empty list");
       Decimal s;
       for (const Decimal& x : xs) s = decimal::add(x, s).value;
       return number_result(c, decimal::quo(s, Decimal(static_cast<i64>(xs.size()))));
     }},
    {"Max", {kListKind}, kNumberKind, [](CallContext& c) -> Node* { return extreme(c, true); }},
    {"Min", {kListKind}, kNumberKind, [](CallContext& c) -> Node* { return extreme(c, false); }},
    {"Product",
     {kListKind},
     kNumberKind,
     [](CallContext& c) -> Node* { return aggregate(c, Decimal(1), decimal::mul); }},
    {"Sum", {kListKind}, kNumberKind, [](CallContext& c) -> Node* { return aggregate(c, Decimal(), decimal::add); }},
    {"Range",
     {kNumberKind, kNumberKind, kNumberKind},
     kListKind,
     [](CallContext& c) -> Node* {
       Decimal at = c.number(0), limit = c.number(1), step = c.number(2);
       if (c.failed()) return nullptr;
       if (step.is_zero()) return c.error("step must be non zero");
       if (!step.negative() && at > limit) return c.error("end must be greater than start when step is positive");
       if (step.negative() && at < limit) return c.error("end must be less than start when step is negative");
       std::vector<Node*> out;
       while (step.negative() ? at > limit : at < limit) {
         c.context.budget.node();
         out.push_back(number_result(c, at));
         DecimalResult next = decimal::add(step, at);
         if (!next.ok()) return c.error(next.error);
         at = next.value;
       }
       return c.make_list(out);
     }},
    {"Sort", {kListKind, kTopKind}, kListKind, sort},
    {"SortStable", {kListKind, kTopKind}, kListKind, sort},
    {"SortStrings",
     {kListKind},
     kListKind,
     [](CallContext& c) -> Node* {
       std::vector<std::string_view> x = c.strings(0);
       if (c.failed()) return nullptr;
       std::sort(x.begin(), x.end());
       std::vector<Node*> out;
       for (std::string_view s : x) out.push_back(c.make_string(s));
       return c.make_list(out);
     }},
    {"IsSorted",
     {kListKind, kTopKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       std::vector<Node*> x = c.list(0);
       if (c.failed()) return nullptr;
       Comparer cmp(c);
       if (c.failed()) return nullptr;
       if (!cmp.ok()) return c.make_bool(true);  // nothing to compare with
       // What cannot be compared is out of order.
       for (std::size_t i = x.size(); i-- > 1;)
         if (cmp.less(x[i], x[i - 1]) || cmp.error()) return c.make_bool(false);
       return c.make_bool(true);
     }},
    {"IsSortedStrings",
     {kListKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       std::vector<std::string_view> x = c.strings(0);
       return c.failed() ? nullptr : c.make_bool(std::is_sorted(x.begin(), x.end()));
     }},
};

const ConstantSpec kConstants[] = {
    {"Comparer", "{T: _, x: T, y: T, less: bool}"},
    {"Ascending", "{T: number | string, x: T, y: T, less: bool & x < y}"},
    {"Descending", "{T: number | string, x: T, y: T, less: bool & x > y}"},
};

// ---- struct

i64 field_count(Vertex* v) {
  i64 n = 0;
  for (Vertex* a : v->deref_value()->arcs) n += a->label.is_string() && a->arc_type == ArcType::kMember;
  return n;
}

i64 constraint_count(Vertex* v) {
  i64 n = 0;
  for (Vertex* a : v->deref_value()->arcs) n += a->label.is_string() && a->is_constraint();
  return n;
}

const BuiltinSpec kStruct[] = {
    {"MinFields",
     {kStructKind, kIntKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       Vertex* v = c.structure(0);
       i64 n = c.integer(1);
       if (c.failed() || !v) return nullptr;
       i64 count = field_count(v);
       if (count >= n) return c.make_bool(true);
       bool more = v->is_open_struct() || v->patterns() || count + constraint_count(v) >= n;
       return validation_error(c, more ? Code::kIncomplete : Code::kEval,
                               fmt::format("len(fields) < MinFields({}) ({} < {})", n, count, n));
     }},
    {"MaxFields",
     {kStructKind, kIntKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       Vertex* v = c.structure(0);
       i64 n = c.integer(1);
       if (c.failed() || !v) return nullptr;
       i64 count = field_count(v);
       if (count <= n) return c.make_bool(true);
       return validation_error(c, Code::kEval, fmt::format("len(fields) > MaxFields({}) ({} > {})", n, count, n));
     }},
};

}  // namespace

void add_list() { add_package("list", kFunctions, kConstants); }
void add_struct() { add_package("struct", kStruct); }

}  // namespace tutti::cue
