#include <algorithm>
#include <unordered_set>

#include "lang/cue/eval/context.h"

// Structural cycles. Each conjunct carries the references followed to reach it. A reference that leads to an ancestor,
// or to a target that was already followed for another vertex, makes the conjunct cyclic; a vertex is in error only
// when all its conjuncts are, and until one is not, cyclic ones are put off. Conjuncts under optional fields, patterns
// and disjuncts get one more round. A reference that leads back to the same vertex says nothing and is dropped.
namespace tutti::cue {

namespace {
bool declares_disjunction(Vertex* v) {
  for (auto& c : v->conjuncts) {
    NodeType t = expression_of(c.x)->type;
    if (t == NodeType::kDisjunctionExpr || t == NodeType::kDisjunction) return true;
  }
  return false;
}
}  // namespace

namespace {
constexpr u64 kPatience = 1000;  // in conjuncts on cycles
}  // namespace

bool lies_within(const Vertex* v, const Vertex* outer) {
  while (v && v != outer) v = v->parent;
  return v;
}

bool Context::has_depth_cycle(Vertex* v) {
  State* s = v->state;
  bool met = s && v->status != Status::kFinalized && s->eval_depth > 0 && s->eval_depth < eval_depth;
  if (met) ++met_again;
  return met;
}

bool State::has_ancestor(Vertex* arc) {
  if (ctx.has_depth_cycle(arc)) return true;
  Vertex* target = deref(arc);
  for (Vertex* p = node->parent; p; p = p->parent)
    if (deref(p) == target) return true;
  return false;
}

// True when the conjunct is not to be processed (now). Adds the reference to those of ci otherwise.
bool State::detect_cycle(Vertex* arc, Environment* env, Node* ref, CloseInfo& ci) {
  if (ctx.unfolding && ci.cycle == Cycle::kNone) return false;
  if (has_ancestor(arc)) return mark_cyclic(arc, env, ref, ci);
  if (has_non_cyclic && ci.cycle == Cycle::kMaybe) return false;

  Vertex* target = deref(arc);
  Vertex* here = deref(node);
  bool chain_step = false;
  u64 followed = 0;
  for (RefNode* r = ci.refs; r; r = r->next) {
    if (++followed % kLookedAtInAStep == 0) ctx.budget.step();
    // of a long chain nearly all are something else
    if (r->ref != ref && r->arc != target && deref(r->arc) != target) continue;
    // The same reference again, further in, to what lies further in: it unfolds itself. That may still come to an end
    // when the same is said once more only, so it is believed after a while.
    if (ctx.cyclic_conjuncts > kPatience && r->ref == ref && r->arc != target && lies_within(here, r->node) &&
        (lies_within(target, r->arc) || lies_within(target, r->node)))
      return mark_cyclic_path(arc, env, ref, ci);
    if (deref(r->arc) == target) {
      if (deref(r->node) == here) return true;
      if (ci.cycle == Cycle::kOptional && has_non_cyclic) {
        ci.cycle = Cycle::kMaybe;
        if (r->depth == depth) return true;  // a pattern that matches what it refers to
        ci.refs = nullptr;
        return false;
      }
      // another way to the same definition from a vertex that is more than a repetition is no cycle, unless a vertex
      // without a place enters a disjunction that is still being worked out
      bool self_feeding =
          node->is_dynamic && arc->deref_value()->status != Status::kFinalized && declares_disjunction(arc);
      if (r->ref != ref && has_non_cycle && has_non_cyclic && !self_feeding) continue;
      return mark_cyclic_path(arc, env, ref, ci);
    }
    if (r->ref == ref && arc->non_rooted) {
      if (deref(r->node) == here) {
        if (chain_step) continue;
        Vertex* v = env ? ctx.env_vertex(env) : nullptr;
        if (v && (deref(v) == here || (r->arc->parent && equal_deref(v, r->arc->parent)))) {
          chain_step = true;
          continue;
        }
        return mark_cyclic_path(arc, env, ref, ci);
      }
      Vertex* p = arc->parent;
      if (r->arc->non_rooted && p && p->is_dynamic && !p->parent && p->state && p->state->has_ancestor_cycle)
        return mark_cyclic(arc, env, ref, ci);
    }
  }
  ci.refs = ctx.arena.make<RefNode>(RefNode{Ref<const Node>(ref), Ref(target), Ref(here), ci.refs, depth});
  return false;
}

bool State::mark_cyclic(Vertex* arc, Environment* env, Node* ref, CloseInfo& ci) {
  if (ci.cycle == Cycle::kNone && !is_disjunct) ++ctx.doubts;
  ++ctx.met_again;
  ci.cycle = Cycle::kCyclic;
  has_any_cyclic = true;
  has_ancestor_cycle = true;
  if (!has_non_cycle && env) {
    cyclic.push_back({Conjunct{env, ref, ci}, arc});
    return true;
  }
  return false;
}

bool State::mark_cyclic_path(Vertex* arc, Environment* env, Node* ref, CloseInfo& ci) {
  if (ci.cycle == Cycle::kNone && !is_disjunct) ++ctx.doubts;
  ++ctx.met_again;
  ci.cycle = Cycle::kCyclic;
  has_any_cyclic = true;
  if (!has_non_cyclic && !has_non_cycle && env) {
    cyclic.push_back({Conjunct{env, ref, ci}, arc});
    return true;
  }
  return false;
}

// Something was found that is not just a repetition: what was put off can go on.
void State::update_cyclic(const CloseInfo& ci) {
  has_field_value = true;
  if (ci.is_cyclic()) return;
  has_non_cycle = true;
  for (std::size_t i = 0; i < cyclic.size(); ++i) {
    CyclicConjunct c = cyclic[i];
    if (c.arc)
      schedule_vertex(c.c, c.arc, c.c.ci);
    else
      schedule_conjunct(c.c, c.c.ci);
  }
  cyclic.clear();
}

bool State::assert_structural_cycle() {
  cyclic.clear();
  if (!only_cyclic()) return false;
  report_cycle();
  return true;
}

void State::report_cycle() {
  ++ctx.doubts;
  auto* b = ctx.store.make<Bottom>(Code::kStructuralCycle, ctx.error_at(ctx.src, "structural cycle"), node);
  if (b->error) b->error->node = node;
  node->base = ctx.combine(ctx.as_bottom(node->value()), b);
  node->forget_arcs();
}

namespace {

// The conjuncts of a vertex without regard to where it lies: which expressions, and how far out their scopes are. 0
// when one of them depends on more than that: a comprehension or a disjunction may end at some level.
u64 shape_of(const Vertex* v) {
  constexpr int kNear = 8;
  u64 out = 0;
  for (auto& c : v->conjuncts) {
    if (c.env && c.env->comp_id) return 0;
    u64 h = reinterpret_cast<std::uintptr_t>(c.x.get());
    int distance = 1;
    for (Vertex* p = v->parent; c.env && p && distance <= kNear; p = p->parent, ++distance)
      if (p == c.env->vertex) {
        h += static_cast<u64>(distance) * 0x9e3779b97f4a7c15u;
        break;
      }
    h *= 0xbf58476d1ce4e5b9u;
    out |= u64{1} << (h >> 58) | u64{1} << (h >> 52 & 63);
  }
  return v->is_disjunct || v->is_pattern || v->is_list() ? 0 : out;
}

}  // namespace

// Whether the last levels down to here are the same conjuncts over and over, in a row or in any order: fields within
// fields without end that no single reference gives away.
bool State::unfolds_for_ever() const {
  constexpr i32 kFirst = 10;
  constexpr std::size_t kTimes = 3, kLevels = 48;
  if (depth < kFirst) return false;
  std::vector<u64> shapes;
  for (const Vertex* v = node; v && v->state && shapes.size() < kLevels; v = v->parent) {
    // All below ask the same of it, and conjuncts only come to it.
    State& s = *v->state;
    if (s.shape_of != v->conjuncts.size()) {
      s.shape_of = v->conjuncts.size();
      s.shape = cue::shape_of(v);
    }
    if (s.shape == 0) break;
    shapes.push_back(s.shape);
  }
  for (std::size_t period = 1; period * kTimes <= shapes.size(); ++period) {
    std::size_t same = 0;
    while (same + period < shapes.size() && shapes[same] == shapes[same + period]) ++same;
    if (same >= std::max<std::size_t>(period * (kTimes - 1), kFirst / 2)) return true;
  }
  constexpr std::size_t kMany = 20, kEach = 4;
  if (shapes.size() < kMany) return false;
  shapes.resize(kMany);
  std::ranges::sort(shapes);
  return static_cast<std::size_t>(std::unique(shapes.begin(), shapes.end()) - shapes.begin()) * kEach <= kMany;
}

// Whether evaluating w would run into a vertex that is being evaluated now.
bool Context::shared_target_in_cycle(Vertex* w) {
  State* s = w->state;
  if (!s) return false;
  for (std::size_t i = 0; i < s->tasks.size(); ++i) {
    Task* t = s->tasks[i];
    if (t->state != TaskState::kReady || t->run != TaskKind::kResolver) continue;
    EvalScope scope(*this, Conjunct{t->env, t->x, t->id});
    Vertex* arc = resolve(t->x, {.condition = kFieldSetKnown, .mode = Mode::kIgnore});
    scope.pop();
    if (!arc || arc == empty_node) continue;
    if (has_depth_cycle(arc->deref_non_disjunct())) return true;
  }
  return false;
}

namespace {

// Looks for a reference to a vertex that is being evaluated, in fields that are there whatever else is. Nothing is
// evaluated: only what can be found by name is looked at.
struct WayBack {
  static constexpr u32 kFar = 512;  // expressions that are looked at
  Context& ctx;
  const std::unordered_set<const Vertex*>& known;  // those that lead nowhere
  std::unordered_set<const Vertex*> seen = {};
  u32 looked_at = 0;
  bool all_final = true;

  Vertex* target(const Node* x, Environment* env, u32 level) {
    if (x->type == NodeType::kSelector) {
      Vertex* v = target(to<Selector>(x)->x, env, level);
      return v ? v->deref_value()->find_raw(to<Selector>(x)->label) : nullptr;
    }
    if (x->type != NodeType::kFieldRef || to<FieldRef>(x)->up < level) return nullptr;
    for (u32 n = to<FieldRef>(x)->up - level; n > 0 && env; --n) env = env->up;
    return env && env->vertex ? ctx.env_vertex(env)->find_raw(to<FieldRef>(x)->label) : nullptr;
  }

  bool vertex(Vertex* v) {
    if (ctx.has_depth_cycle(v->deref_non_disjunct())) return true;
    if (known.contains(v) || !seen.insert(v).second) return false;
    if (v->status != Status::kFinalized) all_final = false;
    for (const KeptConjunct& c : v->conjuncts)
      if (c.env && expression(expression_of(c.x), c.env, 0)) return true;
    return false;
  }

  // An expression that lies in `level` literals of its own.
  bool expression(Node* x, Environment* env, u32 level) {
    Level deeper(ctx);
    if (++looked_at > kFar) return false;
    switch (x->type) {
      case NodeType::kFieldRef:
      case NodeType::kSelector: {
        Vertex* v = target(x, env, level);
        return v && v->arc_type == ArcType::kMember && vertex(v);
      }
      case NodeType::kBinary:
        return to<Binary>(x)->op == Op::kAnd &&
               (expression(to<Binary>(x)->x, env, level) || expression(to<Binary>(x)->y, env, level));
      case NodeType::kStruct:
        for (Node* d : to<StructLit>(x)->decls) {
          bool field = d->type == NodeType::kField && to<Field>(d)->arc == ArcType::kMember;
          if ((field || d->is_expr()) && expression(expression_of(d), env, level + 1)) return true;
        }
        return false;
      case NodeType::kList:
        for (Node* e : to<ListLit>(x)->elems)
          if (e->is_expr() && expression(e, env, level + 1)) return true;
        return false;
      default: return false;
    }
  }
};

}  // namespace

// Whether w holds, however far in, what is being evaluated now. The disjunct that shares w has no end then; w is not to
// blame, since in its own place it ends wherever another disjunct is chosen, and may have ended so already.
bool Context::leads_back(Vertex* w) {
  if (!w->rooted()) return false;
  WayBack way{*this, leads_nowhere_};
  if (way.vertex(w)) return true;
  budget.step(1 + way.looked_at / kLookedAtInAStep);
  if (way.all_final && way.looked_at <= WayBack::kFar) leads_nowhere_.merge(way.seen);
  return false;
}

namespace {
bool safe_to_flush(const Node* x) {
  switch (x->type) {
    case NodeType::kLabelRef: return true;
    case NodeType::kBinary: return safe_to_flush(to<Binary>(x)->x) && safe_to_flush(to<Binary>(x)->y);
    case NodeType::kUnary: return safe_to_flush(to<Unary>(x)->x);
    case NodeType::kCall:
      for (Node* a : to<Call>(x)->args)
        if (!safe_to_flush(a)) return false;
      return true;
    case NodeType::kList:
      for (Node* e : to<ListLit>(x)->elems)
        if (e->is_expr() && !safe_to_flush(e)) return false;
      return true;
    case NodeType::kInterpolation:
      for (Node* p : to<Interpolation>(x)->parts)
        if (!safe_to_flush(p)) return false;
      return true;
    default: return x->is_value();
  }
}
}  // namespace

// Calls that were put off although they cannot lead back here.
void State::flush_deferred_cyclic() {
  if (cyclic.empty() || !tasks.empty()) return;
  has_non_cyclic = true;
  List<CyclicConjunct> all;
  all.swap(cyclic);
  List<CyclicConjunct> kept;
  for (auto& cc : all) {
    if (!safe_to_flush(expression_of(cc.c.x))) {
      kept.push_back(cc);
      continue;
    }
    CloseInfo ci = cc.c.ci;
    ci.cycle = Cycle::kNone;
    if (cc.arc) {
      schedule_vertex(cc.c, cc.arc, ci);
    } else {
      cc.c.ci = ci;
      schedule_conjunct(cc.c, ci);
    }
  }
  cyclic.insert(cyclic.begin(), kept.begin(), kept.end());
}

}  // namespace tutti::cue
