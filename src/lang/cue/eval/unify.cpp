#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lang/cue/eval/context.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/eval/long_rows.h"

namespace tutti::cue {

void Context::complete_arcs(Vertex* v) { unify(v, {Status::kConjuncts, kAllKnown, Mode::kFinalize, true}); }

void Context::complete_arcs_only(Vertex* v) {
  unify(v, {Status::kConjuncts, kAllKnown & ~kSubFieldsDone, Mode::kFinalize, false});
  if (v->arc_type == ArcType::kPending) add_errf(Code::kIncomplete, src, "undefined field: {}", v->label);
}

void State::update_scalar() {
  if (!scalar) return;
  if (node->is_err() && !ctx.is_cycle(node->base)) return;
  if (!(node->base && node->base->type == NodeType::kVertex && to<Vertex>(node->base)->is_disjunct))
    node->base = scalar;
  signal(kScalarKnown);
}

namespace {

// What a field that need not be there shares is evaluated where it is written. Here its fields would meet what holds
// the optional field, and take for a cycle what ends when the field is not there.
bool evaluated_in_its_place(const Vertex* v, Vertex* shared) {
  if (!shared->rooted() || shared->status != Status::kUnprocessed) return false;
  for (; v; v = v->parent)
    if (v->arc_type == ArcType::kOptional || v->arc_type == ArcType::kRequired) return true;
  return false;
}

}  // namespace

namespace {
std::vector<Vertex*> by_name(const Grow<Ref<Vertex>>& arcs) {
  std::vector<Vertex*> out(arcs.begin(), arcs.end());
  std::ranges::sort(out, {}, [](const Vertex* a) { return a->label.text(); });
  return out;
}
}  // namespace

bool Context::unify(Vertex* v, Flags f) {
  Cond want = f.condition;
  Mode mode = f.mode;
  if (mode == Mode::kIgnore || mode == Mode::kNone) return false;
  if (!v->state && mode == Mode::kFinalize && want & kSubFieldsDone && settle_leaf(v)) return true;
  State* n = state(v);
  if (!n) return true;
  budget.step();
  Level level(*this);
  // A structure without end that no rule of cycles sees.
  u32 deepest = budget.limits().depth / kLevelsOfEvaluator;
  if (static_cast<u32>(n->depth) > deepest) {
    throw LimitError("LIMIT-DEPTH", fmt::format("the value is nested deeper than {} levels (--limit depth=N)", deepest),
                     v->conjuncts.size() > 0 ? v->conjuncts[0].x->pos.at : src.at);
  }

  ++n->refs;
  struct Release {
    Context& c;
    Vertex* v;
    State* n;
    ~Release() {
      --n->refs;
      if (v->state && v->status == Status::kFinalized) c.reclaim(v);
    }
  } release{*this, v, n};

  if (!(n->completed & kAncestorsDone) && (!v->rooted() || parents_done(v->parent) || mode == Mode::kFinalize))
    n->signal(kAncestorsDone);
  Cond here = want & ~kSubFieldsDone;
  if (!v->base) v->base = cycle;
  n->update_scalar();
  if (here == (kScalarKnown | kArcTypeKnown) && n->meets(here)) return true;

  // a reference to itself, perhaps through an expression: there is nothing to wait for
  if (v->status == Status::kEvaluating && n->eval_depth == eval_depth && mode != Mode::kFinalize &&
      mode != Mode::kYield && !(want & kFieldSetKnown))
    return false;

  v->status = Status::kEvaluating;
  Restore<int> depth(n->eval_depth, eval_depth);
  n->flush_deferred_cyclic();
  n->held_up = false;
  n->process(here, mode);
  if (mode == Mode::kFinalize && n->waits_for_tried()) {
    n->held_up = true;
    return false;
  }
  if (n->node->arc_type != ArcType::kPending && n->meets(kAncestorsDone) && n->all_tasks_finished())
    n->signal(kArcTypeKnown);

  ArcScope arc(*this, v);
  Vertex* w = v->deref_disjunct();
  if (w != v) {
    v->closed_recursive = w->closed_recursive;
    v->status = w->status;
    v->set_child_errors(arena, combine(v->child_errors(), w->child_errors()));
    clear_arcs(v);
    if (w->status == Status::kFinalized) return true;
    return w->state->meets(want);
  }
  n->update_scalar();
  if (!n->meets(here) && mode != Mode::kFinalize) return false;

  if (n->is_shared) {
    if (is_cycle(n->orig_base)) n->orig_base = nullptr;
  } else if (is_cycle(v->base)) {
    v->base = nullptr;
  }
  if (!n->is_shared) n->validate_value();

  if (v->base && v->base->type == NodeType::kVertex && n->share_cycle == Cycle::kNone) {
    auto* to_v = to<Vertex>(v->base);
    if (has_depth_cycle(to_v)) {
      n->report_cycle();
      return true;
    }
    if (!evaluated_in_its_place(v, to_v)) unify(to_v, {.condition = want, .mode = mode, .check_typos = f.check_typos});
    if (n->held_up_by(to_v)) return false;
    // long chains of references are followed once: a finalized vertex that only stands for another is skipped
    if (n->is_shared && v->base == to_v) {
      Vertex* t = to_v;
      while (t->status == Status::kFinalized && t->is_shared && t->base && t->base->type == NodeType::kVertex &&
             !to<Vertex>(t->base)->is_disjunct)
        t = to<Vertex>(t->base);
      v->base = t;
    }
  }

  if (n->completed & kSubFieldsDone) {
  } else if (want & kSubFieldsDone) {
    if (n->assert_structural_cycle() || v->status == Status::kFinalized || n->kind == kBottomKind) {
    } else if (!unfolding && n->unfolds_for_ever()) {
      n->report_cycle();
    } else {
      n->complete_arcs(want, mode, f.check_typos);
      if (n->held_up) return false;
    }
    if (mode == Mode::kFinalize) n->signal(kSubFieldsDone);
    if (Node* val = v->value(); val && is_concrete(val)) {
      List<Conjunct> checks;
      checks.swap(n->checks);
      for (auto& c : checks)
        if (Bottom* b = validate(c, v)) n->add_bottom(b);
    }
  } else if (want & kFieldSetKnown) {
    n->eval_arc_types(mode);
  }

  if (Bottom* err = n->get_err()) {
    n->errs = nullptr;
    if (Bottom* b = v->bottom()) err = combine(b, err);
    v->base = err;
  }
  n->finalize_disjunctions();
  if (mode == Mode::kAttempt) return n->meets(want);
  if (Cond mask = n->completed & want) n->signal(mask);

  w = v->deref_value();
  if (w != v) {
    clear_arcs(v);
    v->set_child_errors(arena, nullptr);
    if (!(n->completed & kSubFieldsDone)) {
      if (w->status == Status::kUnprocessed) unify(w, {.condition = want, .mode = mode});
      return n->meets(want);
    }
    if (w->closed_recursive) v->closed_recursive = true;
    if (w->has_ellipsis) v->has_ellipsis = true;
    v->status = w->status;
    n->finalize_sharing();
    if (n->has_ancestor(w)) {
      n->report_cycle();
      for (Vertex* p = v->parent; p; p = p->parent)
        if (p == w && n->has_non_cycle) to<Bottom>(v->base)->told_elsewhere = true;
      return true;
    }
    if (shared_target_in_cycle(w) || (n->is_disjunct && leads_back(w))) {
      n->report_cycle();
      return true;
    }
    if (evaluated_in_its_place(v, w)) return true;
    unify(w, {.condition = want, .mode = mode, .check_typos = f.check_typos});
    return !n->held_up_by(w);
  }
  if (!(n->completed & kSubFieldsDone)) return n->meets(want);

  ++eval_depth;
  struct Dec {
    int& d;
    ~Dec() { --d; }
  } dec{eval_depth};
  if (n->is_def && !(n->has_top && !n->has_struct)) v->closed_recursive = true;
  if (f.check_typos) n->check_typos();
  v->status = Status::kFinalized;
  return n->meets(want);
}

// What shares something that waits for a decision waits, too, unless it is what is to be decided: then that goes round.
bool State::held_up_by(Vertex* other) {
  if (!other->state || !other->state->held_up) return false;
  if (is_disjunct)
    node->base = ctx.bottom(Code::kCycle, ctx.src, "cycle with field: {}", other->label);
  else
    held_up = true;
  return held_up;
}

bool State::complete_arcs(Cond want, Mode mode, bool check_typos) {
  complete_tasks(Mode::kFinalize);
  ++ctx.eval_depth;
  struct Dec {
    int& d;
    ~Dec() { --d; }
  } dec{ctx.eval_depth};
  if (node->arcs.empty() && post_checks.empty()) {  // as most are
    if (!held_up) finalize_sharing();
    return !held_up;
  }
  if (has_disjunction) check_typos = false;
  bool success = true;
  // What a field needed for its evaluation is kept for the check of closedness, unless there is nothing to check.
  bool early = mode == Mode::kFinalize && check_typos && !is_disjunct && node->arcs.size() > 16 && required().empty();
  Flags how{.condition = want, .mode = mode, .check_typos = check_typos};
  std::optional<LongRows> rows;
  if (LongRows::possible(*this, how)) rows.emplace(*this, how, early);
  if (ctx.by_name)
    for (Vertex* a : by_name(node->arcs)) ctx.unify(a, how);
  for (u32 i = 0; i < node->arcs.size(); ++i) {
    Vertex* a = node->arcs[i];
    if (rows) rows->before(a);
    if (!(mode == Mode::kAttempt && ctx.only_value(a)) && !ctx.unify(a, how)) success = false;
    if (a->state && a->state->held_up) {
      held_up = true;
      continue;
    }
    if (early && a->state && a->status == Status::kFinalized) ctx.reclaim_arc(a);
    if (a->arc_type == ArcType::kPending) {
      ctx.update_arc_type(a, ArcType::kNotPresent);
      if (a->arc_type == ArcType::kPending) a->arc_type = ArcType::kNotPresent;
      continue;
    }
    if (a->arc_type > ArcType::kRequired || !a->label.is_string()) continue;
    if (!(kind & kStructKind) && !node->is_err() && !a->is_err()) report_field_mismatch(a);
  }
  if (held_up) return false;
  u32 kept = 0;
  for (u32 i = 0; i < node->arcs.size(); ++i)
    if (node->arcs[i]->arc_type != ArcType::kNotPresent) node->arcs[kept++] = node->arcs[i];
  if (kept != node->arcs.size()) {
    node->arcs.resize_down(kept);
    node->reindex(ctx.arena);
  }
  for (u32 i = 0; i < node->arcs.size(); ++i) {
    Vertex* a = node->arcs[i];
    if (a->label.is_let() || a->arc_type > ArcType::kRequired || a->told_where_used()) continue;
    // a field that is not there leads nowhere
    Bottom* err = a->deref_value()->bottom();
    if (err && !(a->arc_type == ArcType::kRequired && err->code == Code::kStructuralCycle))
      ctx.add_child_error(this, err);
    success = true;
  }
  for (std::size_t i = 0; i < post_checks.size(); ++i) {
    PostCheck c = post_checks[i];
    EvalScope scope(ctx, c.env, c.expr->pos);
    Node* v = ctx.eval(c.expr, {Status::kFinalized, kAllKnown, Mode::kIgnore});
    bool ok;
    v = ctx.unwrap(ctx.get_default(v, &ok));
    bool is_error = v && v->type == NodeType::kBottom;
    if (is_error != c.expect_error) {
      auto* b = ctx.store.make<Bottom>(
          Code::kCycle,
          ctx.error_at(c.expr->pos, "circular dependency in evaluation of conditionals: {} changed after evaluation",
                       static_cast<const Node*>(c.expr)),
          node);
      node->base = ctx.combine(ctx.as_bottom(node->value()), b);
      node->status = Status::kFinalized;
    }
  }
  finalize_sharing();
  return success;
}

void State::eval_arc_types(Mode mode) {
  for (u32 i = 0; i < node->arcs.size(); ++i) {
    Vertex* a = node->arcs[i];
    if (a->arc_type != ArcType::kPending) continue;
    ctx.unify(a, {.condition = kArcTypeKnown, .mode = mode});
    if (a->arc_type == ArcType::kPending) ctx.update_arc_type(a, ArcType::kNotPresent);
  }
}

void State::validate_value() {
  bool mark = a_struct;
  if (!mark && !node->structs().empty()) {
    mark = (kind & kStructKind) && !has_top;
    for (Vertex* a : node->arcs)
      if (a->label.is_regular() && a->arc_type != ArcType::kOptional) {
        mark = true;
        break;
      }
  }
  Node* v = node->deref_value()->value();
  if (!node->base && mark && kind != kBottomKind && !(kind & kStructKind)) {
    // a literal whose comprehensions may say nothing is still a struct
    report_conflict(node->structs()[0].lit, kind_expr, kStructKind, kind, 0, kind_id);
    kind = kBottomKind;
  } else if (!node->base && mark) {
    node->base = ctx.struct_marker;
    v = node;
  }
  if (v && ctx.is_concrete(v)) {
    for (Bound* b : {lower, upper})
      if (b)
        if (Bottom* err = ctx.validate({nullptr, b, {}}, v)) add_bottom(err);
  } else {
    node->base = validators();
  }
}

// What is left when there is no concrete value: bounds, checks and the type, in this order.
Node* State::validators() {
  std::vector<Node*> a;
  Kinds k = kTopKind;
  for (Bound* b : {lower, upper})
    if (b) {
      a.push_back(b);
      k &= ctx.kinds(b);
    }
  for (auto& c : checks) {
    if (c.x->type == NodeType::kBound && to<Bound>(c.x)->op == Op::kNe) {
      auto* b = to<Bound>(c.x);
      if (upper && ctx.simplify_bounds(kind, upper, b)) continue;
      if (lower && ctx.simplify_bounds(kind, lower, b)) continue;
    }
    a.push_back(c.x);
    k &= ctx.kinds(c.x);
  }
  if (k & ~kind) {
    auto* t = ctx.store.make<BasicType>(kind);
    if (kind_expr) t->set_src(kind_expr->src()), t->pos = kind_expr->pos;
    a.push_back(t);
  }
  if (a.empty()) return ctx.store.make<BasicType>(kind);
  if (a.size() == 1) return a[0];
  return ctx.store.make<Conjunction>(ctx.store.keep(a));
}

// The places of the references through which a number came.
void State::trail(std::vector<Pos>& out, DefId id) const {
  for (; id != 0; id = ctx.containments[id].id)
    if (Pos at = ctx.containments[id].pos) out.push_back(at);
}

void State::report_conflict(Node* a, Node* b, Kinds ka, Kinds kb, DefId from_a, DefId from_b) {
  const Node *x = a, *y = b;
  Error* e = ka == kb ? ctx.error_at({}, "conflicting values {} and {}", x, y)
                      : ctx.error_at({}, "conflicting values {} and {} (mismatched types {} and {})", x, y, ka, kb);
  std::vector<Pos> through;
  trail(through, from_a);
  trail(through, from_b);
  e->others = ctx.store.keep(through);
  add_error(e);
}

void State::report_field_mismatch(Vertex* arc) {
  Node* v = node->value();
  add_error(ctx.error_at(arc->value() ? arc->value()->pos : Pos{}, "cannot combine regular field {} with {}",
                         arc->label, static_cast<const Node*>(v)));
}

void State::add_bottom(Bottom* b) {
  if (b) errs = ctx.combine(errs, b);
}

void State::add_error(Error* e) {
  if (e) add_bottom(ctx.store.make<Bottom>(Code::kEval, e, node));
}

bool State::has_err() {
  if (node->child_errors()) return true;
  if (node->deref_value()->status > Status::kEvaluating && node->is_err()) return true;
  return ctx.has_err() || errs;
}

Bottom* State::get_err() {
  errs = ctx.combine(errs, ctx.take_err());
  return errs;
}

}  // namespace tutti::cue
