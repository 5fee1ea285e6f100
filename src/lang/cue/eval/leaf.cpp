#include <array>

#include "lang/cue/eval/context.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/eval/scalar.h"

// Leaves: a field whose conjuncts are a plain value and what it must satisfy, all written out or known already. Most
// vertices of a configuration are such, and nothing about them has to wait for anything: when its parent is complete
// the value is taken and checked, without tasks and without a state. Whatever is not as simple as that, errors
// included, is left to the evaluation proper, so that there is only one place that decides what is wrong.
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

class Leaf {
 public:
  Leaf(Context& c, Vertex* v) : c_(c), v_(v) {}

  // The value, or nullptr when it must be evaluated.
  Node* settle() {
    for (const Conjunct& k : v_->conjuncts) {
      const CloseInfo& ci = k.ci;
      if (ci.cycle == Cycle::kCyclic || ci.cycle == Cycle::kMaybe || ci.opened || ci.conjunct_opened) return nullptr;
      if (!take(expression_of(k.x), k.env, ci.top_def, 0)) return nullptr;
    }
    bool refers_only = !scalar_ && constraints_.size == 0;
    for (const Later& l : later_) {
      if (!follow(l)) return nullptr;
      if (l.x->type == NodeType::kLabelRef) refers_only = false;
    }
    if (refers_only) return nullptr;  // it stands for what it refers to
    if (!scalar_ || (definition_ && anything_)) return nullptr;
    for (Node* x : constraints_)
      if (!satisfies(x)) return nullptr;
    if (lower_ && upper_ && c_.simplify_bounds(c_.kinds(scalar_), lower_, upper_)) return nullptr;
    return scalar_;
  }
  bool definition() const { return definition_; }

 private:
  struct Later {
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
      case NodeType::kDisjunctionExpr: return constraints_.add(x);
      case NodeType::kConjunction:
        for (Node* y : to<Conjunction>(x)->values)
          if (!take(y, env, top_def, depth + 1)) return false;
        return true;
      case NodeType::kBoundExpr: return to<BoundExpr>(x)->made && constraints_.add(to<BoundExpr>(x)->made);
      case NodeType::kCall: return to<Call>(x)->made && constraints_.add(to<Call>(x)->made);
      case NodeType::kBinary: {
        auto* b = to<Binary>(x);
        return b->op == Op::kAnd && depth < 8 && take(b->x, env, top_def, depth + 1) &&
               take(b->y, env, top_def, depth + 1);
      }
      case NodeType::kFieldRef:
      case NodeType::kLabelRef: return env && later_.add({x, env, top_def});
      default: return false;
    }
  }

  // References come after what is written out: so they are evaluated, and of equal values the first is kept.
  bool follow(const Later& l) {
    if (l.x->type == NodeType::kLabelRef) {
      Label label = up(l.env, to<LabelRef>(l.x)->up)->dynamic_label;
      return label.valid() && take_scalar(c_.label_value(label));
    }
    auto* r = to<FieldRef>(l.x);
    Vertex* scope = up(l.env, r->up)->vertex;
    Vertex* target = scope && !r->optional ? scope->deref_value()->find_raw(r->label) : nullptr;
    if (!target || target->arc_type != ArcType::kMember || target->status != Status::kFinalized) return false;
    Vertex* w = target->deref_value();
    if (w->status != Status::kFinalized || !w->arcs.empty() || w->patterns() || !w->base || !w->base->is_value())
      return false;
    if (w->base->type == NodeType::kBottom || w->base->type == NodeType::kVertex) return false;
    if (l.top_def || target->label.is_def() || target->closed_recursive) definition_ = true;
    return take(w->base, nullptr, false, 0);
  }

  static Environment* up(Environment* env, u32 n) {
    while (n-- > 0 && env->up) env = env->up;
    return env;
  }

  bool satisfies(Node* x) {
    Kinds k = c_.kinds(scalar_);
    switch (x->type) {
      case NodeType::kBasicType: return (to<BasicType>(x)->kind & k) != 0;
      case NodeType::kBound: {
        auto* b = to<Bound>(x);
        if (!(c_.kinds(b) & k)) return false;
        switch (b->op) {
          case Op::kGt:
          case Op::kGe:
            if (lower_) return false;
            lower_ = b;
            break;
          case Op::kLt:
          case Op::kLe:
            if (upper_) return false;
            upper_ = b;
            break;
          default:
            if (definition_ && c_.kinds(b) & kCompositeKinds) return false;
        }
        return passes(b);
      }
      case NodeType::kValidator: {
        const Builtin* b = to<Validator>(x)->builtin;
        if (b->non_concrete || !(c_.kinds(x) & k) || (definition_ && c_.kinds(x) == kTopKind)) return false;
        return passes(x);
      }
      case NodeType::kDisjunction:
        for (Node* arm : to<Disjunction>(x)->values)
          if (is_arm(arm)) return true;
        return false;
      case NodeType::kDisjunctionExpr:
        for (const Disjunct& arm : to<DisjunctionExpr>(x)->values)
          if (is_arm(arm.value)) return true;
        return false;
      default: return false;
    }
  }

  // Any other arm either comes to the same or fails.
  bool is_arm(const Node* x) const {
    if (is_scalar(x)) return same_scalar(scalar_, x);
    return x->type == NodeType::kBasicType && (c_.kinds(scalar_) & to<BasicType>(x)->kind) != 0;
  }

  bool passes(Node* check) {
    bool ok = !c_.validate({nullptr, check, {}}, scalar_);
    return !c_.take_err() && ok;
  }

  Context& c_;
  Vertex* v_;
  Node* scalar_ = nullptr;
  Bound *lower_ = nullptr, *upper_ = nullptr;
  Few<Node*> constraints_;
  Few<Later> later_;
  bool anything_ = false, definition_ = false;
};

}  // namespace

bool Context::settle_leaf(Vertex* v) {
  if (v->status != Status::kUnprocessed || v->base || v->conjuncts.empty() || v->conjuncts.size() > kMost) return false;
  if (!v->arcs.empty() || v->patterns() || v->arc_type == ArcType::kPending || v->label.is_let()) return false;
  if (errs || ci.is_cyclic() || !overlays.empty() || v->is_pattern || v->is_disjunct) return false;
  if (!v->parent || !v->parent->state || v->parent->state->is_disjunct) return false;
  if (static_cast<u32>(v->parent->state->depth) >= budget.limits().depth / kLevelsOfEvaluator) return false;
  ArcScope scope(*this, v);
  Leaf leaf(*this, v);
  Node* value = leaf.settle();
  if (!value) return false;
  budget.step(2 + v->conjuncts.size());
  begin(v);
  bool closed = leaf.definition();
  for (const Conjunct& c : v->conjuncts) closed |= c.ci.from_def;
  if (closed) v->closed_recursive = true;
  v->base = value;
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
  for (const Conjunct& c : leaf->conjuncts) s.infos.push_back({c.ci.def, c.ci.embed, kTopKind, 0});
  return s;
}

}  // namespace tutti::cue
