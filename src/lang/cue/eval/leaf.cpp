#include <array>

#include "lang/cue/eval/context.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/eval/scalar.h"

// Leaves: a field whose conjuncts are plain values and constraints, all written out or known already. Most vertices of
// a configuration are such, and nothing about them has to wait for anything: when its parent is complete the value is
// taken and checked, without tasks and without a state. Whatever is not as simple as that, errors included, is left to
// the evaluation proper, so that there is only one place that decides what is wrong.
namespace tutti::cue {

namespace {

constexpr std::size_t kMost = 12;  // parts of a leaf that are looked at

// At most kMost things; more than that is no simple leaf.
template <class T>
struct Few {
  std::array<T, kMost> items;
  std::size_t size = 0;
  bool add(const T& t) {
    if (size == kMost) return false;
    items[size++] = t;
    return true;
  }
  const T* begin() const { return items.data(); }
  const T* end() const { return items.data() + size; }
};

Environment* up(Environment* env, u32 n) {
  while (n-- > 0 && env->up) env = env->up;
  return env;
}

constexpr int kDeepest = 8;  // levels of an expression that are looked at

// What a row of names leads to, when everything on the way is there for good; nullptr otherwise.
Vertex* reached(Environment* env, const Node* x, int depth) {
  Vertex* target = nullptr;
  if (x->type == NodeType::kFieldRef) {
    auto* r = to<FieldRef>(x);
    Vertex* scope = env ? up(env, r->up)->vertex.get() : nullptr;
    if (scope && !r->optional) target = scope->deref_value()->find_raw(r->label);
  } else if (x->type == NodeType::kSelector && depth < kDeepest) {
    auto* s = to<Selector>(x);
    Vertex* of = s->optional ? nullptr : reached(env, s->x, depth + 1);
    if (of) of = of->deref_value();
    if (of && of->status == Status::kFinalized && !of->bottom()) target = of->find_raw(s->label);
  }
  // the variable of a loop is what it stands for
  return target && target->deref_non_rooted()->arc_type == ArcType::kMember ? target : nullptr;
}

// What a reference leads to, when that has its value and is no struct or list; nullptr otherwise.
Vertex* known(Environment* env, const Node* reference) {
  Vertex* target = reached(env, reference, 0);
  if (!target || target->deref_non_rooted()->status != Status::kFinalized) return nullptr;
  const Vertex* w = target->deref_value();
  bool simple = w->status == Status::kFinalized && w->arcs.empty() && !w->patterns() && w->base && w->base->is_value();
  return simple && w->base->type != NodeType::kBottom && w->base->type != NodeType::kVertex ? target : nullptr;
}

// Bounds, checks and types together, in the order in which the evaluator shows what is left without a value.
class Constraints {
 public:
  explicit Constraints(Context& c) : c_(c) {}

  bool add(Node* x, Environment* env, int depth = 0) {
    switch (x->type) {
      case NodeType::kBasicType:
        kind_ &= to<BasicType>(x)->kind;
        if (!type_ || kind_ != to<BasicType>(type_)->kind) type_ = x;
        return true;
      case NodeType::kBound: return bound(to<Bound>(x));
      case NodeType::kValidator:
        if (check_ || to<Validator>(x)->builtin->non_concrete || c_.kinds(x) & kCompositeKinds) return false;
        kind_ &= c_.kinds(x);
        check_ = x;
        return true;
      case NodeType::kConjunction:
        for (Node* y : to<Conjunction>(x)->values)
          if (!add(y, env, depth + 1)) return false;
        return true;
      case NodeType::kBoundExpr: return to<BoundExpr>(x)->made && add(to<BoundExpr>(x)->made, env);
      case NodeType::kCall: return to<Call>(x)->made && add(to<Call>(x)->made, env);
      case NodeType::kBinary: {
        auto* b = to<Binary>(x);
        return b->op == Op::kAnd && depth < kDeepest && add(b->x, env, depth + 1) && add(b->y, env, depth + 1);
      }
      default: return false;
    }
  }

  // nullptr when they must be evaluated.
  Node* value() {
    if (kind_ == kBottomKind || kind_ == kTopKind) return nullptr;
    if (lower_ && upper_ && c_.simplify_bounds(kind_, lower_, upper_)) return nullptr;
    std::vector<Node*> all;
    Kinds k = kTopKind;
    for (Node* x : {static_cast<Node*>(lower_), static_cast<Node*>(upper_), check_})
      if (x) {
        all.push_back(x);
        k &= c_.kinds(x);
      }
    if (k & ~kind_) {
      if (!type_ || to<BasicType>(type_)->kind != kind_) return nullptr;
      all.push_back(type_);
    }
    if (all.size() == 1) return all[0];
    return c_.store.make<Conjunction>(c_.store.keep(all));
  }

 private:
  bool bound(Bound* b) {
    if (c_.kinds(b) & kCompositeKinds) return false;
    kind_ &= c_.kinds(b);
    bool low = b->op == Op::kGt || b->op == Op::kGe, high = b->op == Op::kLt || b->op == Op::kLe;
    if (!low && !high) {
      if (check_ || b->op == Op::kNe || b->op == Op::kEq) return false;
      check_ = b;
      return true;
    }
    Bound*& at = low ? lower_ : upper_;
    if (at) return false;
    at = b;
    return true;
  }

  Context& c_;
  Kinds kind_ = kTopKind;
  Bound *lower_ = nullptr, *upper_ = nullptr;
  Node *check_ = nullptr, *type_ = nullptr;
};

class Leaf {
 public:
  Leaf(Context& c, Vertex* v) : c_(c), v_(v) {}

  // The value, or nullptr when it must be evaluated.
  Node* settle() {
    for (auto& k : v_->conjuncts) {
      const CloseInfo& ci = *k.ci;
      if (ci.cycle == Cycle::kCyclic || ci.cycle == Cycle::kMaybe || ci.opened || ci.conjunct_opened) return nullptr;
      Node* x = expression_of(k.x);
      if (is_scalar(x) && v_->conjuncts.size() == 1) return x;
      if (!take(x, k.env, ci.top_def, 0)) return nullptr;
    }
    bool refers_only = !scalar_ && parts_.size == 0;
    for (const Part& l : later_) {
      if (!follow(l)) return nullptr;
      if (l.x->type != NodeType::kFieldRef && l.x->type != NodeType::kSelector) refers_only = false;
    }
    if (refers_only) return stood_for();
    if (definition_ && anything_) return nullptr;
    return scalar_ ? checked() : constraint();
  }
  bool definition() const { return definition_; }

 private:
  struct Part {
    Node* x;
    Environment* env;
    bool top_def;
  };

  bool take_scalar(Node* x) {
    if (!scalar_) {
      scalar_ = x;
      return true;
    }
    return same_scalar(scalar_, x);
  }

  bool take(Node* x, Environment* env, bool top_def, int depth) {
    switch (x->type) {
      case NodeType::kNull:
      case NodeType::kBool:
      case NodeType::kNum:
      case NodeType::kString:
      case NodeType::kBytes: return take_scalar(x);
      case NodeType::kTop: return anything_ = true;
      case NodeType::kBasicType:
      case NodeType::kBound:
      case NodeType::kValidator:
      case NodeType::kDisjunction:
      case NodeType::kDisjunctionExpr: return parts_.add({x, env, false});
      case NodeType::kConjunction:
        for (Node* y : to<Conjunction>(x)->values)
          if (!take(y, env, top_def, depth + 1)) return false;
        return true;
      case NodeType::kBoundExpr: return to<BoundExpr>(x)->made && parts_.add({to<BoundExpr>(x)->made, env, false});
      case NodeType::kCall: return to<Call>(x)->made && parts_.add({to<Call>(x)->made, env, false});
      case NodeType::kBinary: {
        auto* b = to<Binary>(x);
        if (b->op != Op::kAnd) return env && later_.add({x, env, top_def});
        return depth < kDeepest && take(b->x, env, top_def, depth + 1) && take(b->y, env, top_def, depth + 1);
      }
      case NodeType::kFieldRef:
      case NodeType::kSelector:
      case NodeType::kInterpolation:
      case NodeType::kLabelRef: return env && later_.add({x, env, top_def});
      default: return false;
    }
  }

  // A vertex that is only a reference, to something that has its value: it stands for that, or has the same value where
  // it may not.
  Node* stood_for() {
    if (v_->conjuncts.size() != 1 || later_.size != 1 || anything_) return nullptr;
    const Part& only = *later_.begin();
    if (only.x != expression_of(v_->conjuncts[0].x)) return nullptr;
    Vertex* target = known(only.env, only.x);
    if (!target || target->opened_shared || !is_scalar(target->deref_value()->base)) return nullptr;
    c_.begin(v_);
    bool may = !target->non_rooted && !target->is_dynamic && !target->label.is_let() && !c_.unfolding &&
               (!v_->closed_recursive || target->closed_recursive);
    return may ? target : definition_ ? nullptr : target->deref_value()->base.get();
  }

  // An expression of values that are known.
  bool computable(Node* x, Environment* env, int depth) {
    if (is_scalar(x)) return true;
    if (depth >= kDeepest) return false;
    switch (x->type) {
      case NodeType::kFieldRef:
      case NodeType::kSelector: {
        Vertex* target = known(env, x);
        return target && is_scalar(target->deref_value()->base);
      }
      case NodeType::kInterpolation:
        for (Node* part : to<Interpolation>(x)->parts)
          if (!computable(part, env, depth + 1)) return false;
        return true;
      case NodeType::kBinary: {
        auto* b = to<Binary>(x);
        bool sum = b->op == Op::kAdd || b->op == Op::kSub || b->op == Op::kMul;
        return sum && computable(b->x, env, depth + 1) && computable(b->y, env, depth + 1);
      }
      default: return false;
    }
  }

  bool compute(const Part& l) {
    if (!computable(l.x, l.env, 0)) return false;
    EvalScope scope(c_, l.env, l.x->pos);
    Node* value = c_.eval(l.x, {.condition = kScalarKnown, .mode = Mode::kFinalize});
    return !scope.pop() && value && is_scalar(value) && take_scalar(value);
  }

  // References come after what is written out: so they are evaluated, and of equal values the first is kept.
  bool follow(const Part& l) {
    if (l.x->type == NodeType::kLabelRef) {
      Label label = up(l.env, to<LabelRef>(l.x)->up)->dynamic_label;
      if (!label.valid()) return false;
      Node* name = c_.label_value(label);
      if (name) name->pos = l.x->pos;
      return take_scalar(name);
    }
    if (l.x->type == NodeType::kInterpolation || l.x->type == NodeType::kBinary) return compute(l);
    Vertex* target = known(l.env, l.x);
    if (!target) return false;
    if (l.top_def || target->label.is_def() || target->closed_recursive) definition_ = true;
    return take(target->deref_value()->base, nullptr, false, 0);
  }

  // ---- with a value

  Node* checked() {
    Bound *lower = nullptr, *upper = nullptr;
    for (const Part& p : parts_) {
      if (p.x->type == NodeType::kBound) {
        auto* b = to<Bound>(p.x);
        bool low = b->op == Op::kGt || b->op == Op::kGe, high = b->op == Op::kLt || b->op == Op::kLe;
        if ((low && lower) || (high && upper) || (definition_ && c_.kinds(b) & kCompositeKinds)) return nullptr;
        if (low) lower = b;
        if (high) upper = b;
      } else if (p.x->type == NodeType::kValidator && definition_ && c_.kinds(p.x) == kTopKind) {
        return nullptr;
      }
      if (!satisfies(p.x, p.env, 0)) return nullptr;
    }
    if (lower && upper && c_.simplify_bounds(c_.kinds(scalar_), lower, upper)) return nullptr;
    return scalar_;
  }

  bool satisfies(Node* x, Environment* env, int depth) {
    if (is_scalar(x)) return same_scalar(scalar_, x);
    auto fits = [&] { return (c_.kinds(x) & c_.kinds(scalar_)) != 0; };
    switch (x->type) {
      case NodeType::kBasicType: return fits();
      case NodeType::kBound: return fits() && passes(x);
      case NodeType::kValidator: return !to<Validator>(x)->builtin->non_concrete && fits() && passes(x);
      case NodeType::kBoundExpr: return to<BoundExpr>(x)->made && satisfies(to<BoundExpr>(x)->made, env, depth);
      case NodeType::kCall: return to<Call>(x)->made && satisfies(to<Call>(x)->made, env, depth);
      case NodeType::kConjunction:
        for (Node* y : to<Conjunction>(x)->values)
          if (!satisfies(y, env, depth + 1)) return false;
        return true;
      case NodeType::kBinary: {
        auto* b = to<Binary>(x);
        return b->op == Op::kAnd && depth < kDeepest && satisfies(b->x, env, depth + 1) &&
               satisfies(b->y, env, depth + 1);
      }
      // Any other arm either comes to the same or fails.
      case NodeType::kDisjunction:
        for (Node* arm : to<Disjunction>(x)->values)
          if (depth < kDeepest && satisfies(arm, env, depth + 1)) return true;
        return false;
      case NodeType::kDisjunctionExpr:
        for (const Disjunct& arm : to<DisjunctionExpr>(x)->values)
          if (depth < kDeepest && satisfies(arm.value, env, depth + 1)) return true;
        return false;
      case NodeType::kFieldRef: {
        Vertex* target = known(env, x);
        return target && depth < kDeepest && satisfies(target->deref_value()->base, nullptr, depth + 1);
      }
      default: return false;
    }
  }

  bool passes(Node* check) {
    bool ok = !c_.validate({nullptr, check, {}}, scalar_);
    return !c_.take_err() && ok;
  }

  // ---- without

  Node* constraint() {
    if (anything_ || later_.size > 0) return nullptr;
    if (parts_.size == 1 && parts_.items[0].x->type == NodeType::kDisjunctionExpr)
      return disjunction(to<DisjunctionExpr>(parts_.items[0].x), parts_.items[0].env);
    Constraints all(c_);
    for (const Part& p : parts_)
      if (!all.add(p.x, p.env)) return nullptr;
    return all.value();
  }

  Node* disjunction(DisjunctionExpr* x, Environment* env) {
    // in the same scope it is the same again
    Vertex* scope = nullptr;
    for (const Disjunct& arm : x->values)
      if (arm.value->type == NodeType::kFieldRef && env) scope = up(env, to<FieldRef>(arm.value)->up)->vertex;
    if (x->made && x->made_in == scope) return x->made;
    constexpr std::size_t kArms = 64;
    if (x->values.size() < 2 || x->values.size() > kArms) return nullptr;
    std::vector<DisjunctArm> arms;
    for (const Disjunct& arm : x->values) {
      Node* value = arm.value;
      if (value->type == NodeType::kFieldRef) {
        if (up(env, to<FieldRef>(value)->up)->vertex != scope) return nullptr;
        Vertex* target = known(env, value);
        if (!target) return nullptr;
        value = target->deref_value()->base;
        if (value->type == NodeType::kDisjunction) return nullptr;
      }
      if (!is_scalar(value) && value->type != NodeType::kConjunction) {
        Constraints one(c_);
        value = one.add(value, env) ? one.value() : nullptr;
        if (!value) return nullptr;
      }
      for (const DisjunctArm& before : arms)
        if (c_.equal(before.expr, value, true)) return nullptr;
      Default mode = !x->has_defaults ? Default::kMaybe : arm.marked ? Default::kIs : Default::kNot;
      arms.push_back({value, nullptr, mode});
    }
    x->made = make_disjunction(c_.store, arms);
    x->made_in = scope;
    return x->made;
  }

  Context& c_;
  Vertex* v_;
  Node* scalar_ = nullptr;
  Few<Part> parts_, later_;
  bool anything_ = false, definition_ = false;
};

}  // namespace

Disjunction* make_disjunction(NodeStore& store, std::span<const DisjunctArm> arms) {
  std::vector<Node*> values(arms.size());
  u32 defaults = 0;
  bool has_defaults = false;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (arms[i].mode != Default::kMaybe) has_defaults = true;
    if (arms[i].mode == Default::kIs) {
      values[i] = values[defaults];
      values[defaults++] = arms[i].expr;
    } else {
      values[i] = arms[i].expr;
    }
  }
  auto* out = store.make<Disjunction>(store.keep(values));
  out->defaults = defaults;
  out->has_defaults = has_defaults;
  return out;
}

Node* Vertex::only_value() const {
  if (conjuncts.size() != 1 || state || base || status != Status::kUnprocessed || arc_type != ArcType::kMember)
    return nullptr;
  const CloseInfo& ci = *conjuncts[0].ci;
  Node* x = expression_of(conjuncts[0].x);
  bool plain = ci.cycle <= Cycle::kOptional && !ci.opened && !ci.conjunct_opened && is_scalar(x);
  return plain && arcs.empty() && !patterns() && !label.is_let() && !is_pattern && !is_disjunct ? x : nullptr;
}

bool Context::settle_leaf(Vertex* v) {
  if (v->status != Status::kUnprocessed || v->base || v->conjuncts.empty() || v->conjuncts.size() > kMost) return false;
  if (!v->arcs.empty() || v->patterns() || v->arc_type == ArcType::kPending || v->label.is_let()) return false;
  if (!settles_leaves || errs || ci.is_cyclic() || v->is_pattern || v->is_disjunct) return false;
  if (!v->parent || !v->parent->state) return false;
  if ((!overlays.empty() || v->parent->state->is_disjunct) && !v->only_value()) return false;
  if (static_cast<u32>(v->parent->state->depth) >= budget.limits().depth / kLevelsOfEvaluator) return false;
  ArcScope scope(*this, v);
  Leaf leaf(*this, v);
  Node* value = leaf.settle();
  if (!value) return false;
  budget.step(2 + v->conjuncts.size());
  begin(v);
  v->base = value;
  if (value->type == NodeType::kVertex) {
    auto* target = to<Vertex>(value);
    while (target->is_shared && target->base->type == NodeType::kVertex && !to<Vertex>(target->base)->is_disjunct)
      target = to<Vertex>(target->base);
    v->base = target;
    v->is_shared = true;
    if (target->deref_value()->closed_recursive) v->closed_recursive = true;
  } else {
    bool closed = leaf.definition();
    for (auto& c : v->conjuncts) closed |= c.ci->from_def;
    if (closed) v->closed_recursive = true;
  }
  v->is_leaf = true;
  v->status = Status::kFinalized;
  return true;
}

// What the check of closedness asks a state for: the numbers of the conjuncts.
State& State::leaf_view(Vertex* leaf, bool first) {
  State& s = ctx.leaf_view();
  if (first) {
    s.computed_flat = false;
    s.containment_queries = 0;
    s.min_flat_to = 0;
    s.ancestries.clear();
  }
  s.node = leaf;
  s.infos.clear();
  s.infos_index.reset();
  for (auto& c : leaf->conjuncts) s.infos.push_back({c.ci->def, c.ci->embed, kTopKind, 0});
  return s;
}

}  // namespace tutti::cue
