#include <algorithm>

#include "lang/cue/eval/context.h"
#include "lang/cue/eval/print.h"
#include "lang/cue/eval/scalar.h"

// Disjunctions. All those of a vertex are expanded together, when everything else is in: for each combination of arms
// the vertex is copied, the arm added and the copy evaluated; copies that fail, and those equal to an earlier one, are
// dropped.
namespace tutti::cue {

void State::schedule_disjunction(PendingDisjunction d) {
  if (disjunctions.empty()) schedule_task(TaskKind::kDisjunctions, nullptr, nullptr, {});
  disjunctions.push_back(std::move(d));
  has_disjunction = true;
}

namespace {

bool init_arcs(Context& ctx, Vertex* v) {
  for (u32 i = 0; i < v->arcs.size(); ++i) {
    Vertex* a = v->arcs[i];
    if (ctx.only_value(a)) {
      a->taken_in = true;
      continue;
    }
    State* s = ctx.state(a);
    if (s && s->errs) {
      if (a->arc_type == ArcType::kMember) return false;
    } else if (!init_arcs(ctx, a)) {
      return false;
    }
  }
  return true;
}

bool deferred_comprehension(Vertex* v) {
  for (Vertex* p = v; p; p = p->parent) {
    if (!p->is_disjunct) continue;
    if (!p->state) return false;
    for (Task* t : p->state->tasks)
      if (t->run == TaskKind::kComprehension && t->completes == kTasksDone) return true;
    return false;
  }
  return false;
}

// ---- copying a vertex for one arm

struct Copier {
  Context& ctx;
  std::shared_ptr<Copies> copies = std::make_shared<Copies>();

  Vertex* vertex(Vertex* x) {
    if (x->overlay) return x->overlay;
    Vertex* v = x->copy(ctx.store);
    ctx.budget.node();
    ctx.budget.step(8);
    if (ctx.only_value(x)) return v;  // nothing looks for its copy
    x->overlay = v;
    copies->pairs.push_back({x, v});
    v->forget_arcs();
    v->arcs.reserve(ctx.arena, x->arcs.size());
    for (Vertex* a : x->arcs) {
      Vertex* c = vertex(a);
      c->parent = v;
      v->add_arc(ctx.arena, c);
    }
    if (Patterns* from = x->patterns()) {
      auto* to = ctx.arena.make<Patterns>();
      v->make_rare(ctx.arena).patterns = to;
      for (auto& p : from->pairs) to->pairs.push(ctx.arena, {p.pattern, Ref(vertex(p.constraint))});
    }
    if (x->state) {
      v->state = state(x->state);
      v->state->node = v;
      tasks(v->state, x->state);
    }
    return v;
  }

  State* state(State* n) {
    ctx.state(n->node);
    State* d = ctx.bare_copy(n->node);
    d->underlying = n->underlying;
    d->is_disjunct = true;
    static_cast<StateFlags&>(*d) = *n;
    d->arc_map = n->arc_map;
    d->checks = n->checks;
    d->shared_ids = n->shared_ids;
    d->reqs = n->reqs;
    d->replaces = n->replaces;
    d->flat_replaces = n->flat_replaces;
    d->min_flat_to = n->min_flat_to;
    d->infos = n->infos;
    d->cyclic = n->cyclic;
    d->disjunctions = n->disjunctions;
    return d;
  }

  void tasks(State* d, State* s) {
    d->sched = s->sched;
    d->completed = s->completed;
    d->needs = s->needs;
    d->provided = s->provided;
    d->counters = s->counters;
    s->blocking.clear();
    for (Task* t : s->tasks) {
      if (t->state == TaskState::kRunning && t->run == TaskKind::kDisjunctions) continue;
      if (t->state > TaskState::kWaiting) continue;
      t->defunct = true;
      Task* c = ctx.new_task();
      c->run = t->run;
      c->state = t->state == TaskState::kRunning ? TaskState::kReady : t->state;
      c->completes = t->completes;
      c->unblocked = t->unblocked;
      c->block_cond = t->block_cond;
      c->blocked_on = t->blocked_on;
      c->err = t->err;
      c->env = t->env;
      c->x = t->x;
      c->id = t->id;
      c->node = d;
      d->tasks.push_back(c);
    }
  }

  State* root(State* n) {
    copies->before = n->copies;
    Vertex* v = vertex(n->node);
    v->is_disjunct = true;
    v->state->copies = copies;
    auto& pairs = copies->pairs;
    std::vector<Copies::Pair> as_made(pairs.begin(), pairs.end());
    std::sort(pairs.begin(), pairs.end(), [](auto& a, auto& b) { return a.of < b.of; });
    for (auto& pair : as_made) {
      State* s = pair.copy->state;
      if (!s) continue;
      for (Task* t : s->tasks) {
        if (!t->blocked_on) continue;
        Vertex* before = t->blocked_on->node;
        Vertex* after = copies->last(before);
        if (!after || !after->state) continue;
        t->blocked_on = after->state;
        after->state->blocking.push_back(t);
        ctx.blocking.push_back(t);
        after->state->needs |= t->block_cond;
      }
    }
    return v->state;
  }

  void unlink() {
    for (auto& pair : copies->pairs) pair.of->overlay = nullptr;
  }
};

}  // namespace

Vertex* Copies::find(Vertex* v) const {
  for (const Copies* c = this; c; c = c->before.get()) {
    auto at = std::lower_bound(c->pairs.begin(), c->pairs.end(), v, [](const Pair& p, Vertex* x) { return p.of < x; });
    if (at != c->pairs.end() && at->of == v) return at->copy;
  }
  return nullptr;
}

// Of several disjunctions each copies the copy before, which is then given back.
Vertex* Copies::last(Vertex* v) const {
  Vertex* copy = find(v);
  for (Vertex* next = copy; next; next = find(copy)) copy = next;
  return copy;
}

namespace {

// Gives a vertex its value. A value that by now stands for the vertex itself says nothing.
void stand_for(Context& ctx, Vertex* v, Node* value) {
  v->base = nullptr;
  bool circle = value && value->type == NodeType::kVertex && to<Vertex>(value)->stands_for(v);
  v->base = circle ? ctx.cycle : value;
}

// Of a plain field of a finished disjunct only the value is asked for: there may be thousands of them.
void release_leaves(Context& ctx, Vertex* v) {
  if (v->status != Status::kFinalized) return;
  for (Vertex* a : v->arcs) {
    State* s = a->state;
    if (s && s->refs == 0 && a->status == Status::kFinalized && a->arcs.empty() && !a->patterns() && a->base &&
        is_scalar(a->base))
      ctx.free_state(s);
  }
}

Default combine_default(Default a, Default b, bool drop_a, bool drop_b) {
  if (drop_a) a = Default::kMaybe;
  if (drop_b) b = Default::kMaybe;
  return std::max(a, b);
}

}  // namespace

Bottom* State::run_disjunctions() {
  std::vector<PendingDisjunction> all;
  all.swap(disjunctions);
  if (!init_arcs(ctx, node)) return get_error();
  if (settle(all)) return nullptr;
  decided_first(all);

  Mode outer = Mode::kNone;
  for (Vertex* p = node; p; p = p->parent)
    if (p->is_disjunct) {
      outer = p->state ? p->state->run_mode : Mode::kFinalize;
      break;
    }

  std::vector<State*> cross{this}, results;
  for (std::size_t i = 0; i < all.size(); ++i) {
    PendingDisjunction& d = all[i];
    Mode mode = Mode::kAttempt;
    bool last = i + 1 == all.size();
    if (outer != Mode::kNone) {
      mode = outer;
      if (!last)
        mode = Mode::kAttempt;
      else if (outer == Mode::kAttempt && deferred_comprehension(node))
        mode = Mode::kFinalize;
    } else if (last) {
      mode = Mode::kFinalize;
    }
    results.clear();
    cross_product(results, cross, d, mode, last && outer == Mode::kNone);
    if (results.empty()) return collect_errors({all.data(), i + 1});
    for (State* s : cross)
      if (s && s != this && s->node) ctx.reclaim_all(s->node);
    cross.swap(results);
  }

  if (cross.size() == 1) {
    stand_for(ctx, node, cross[0]->node);
    if (default_mode == Default::kMaybe) default_mode = cross[0]->default_mode;
    if (default_attempt && default_mode != Default::kIs) {
      auto* b = ctx.store.make<Bottom>(
          Code::kCycle,
          ctx.error_at(ctx.src, "ambiguous default elimination by referencing {}", default_attempt->label));
      node->base = b;
      return b;
    }
  } else {
    for (State* s : cross) disjuncts.push_back({s, s->life});
  }
  Cond done = 0;
  int defaults = 0;
  if (disjuncts.size() == 1) done = disjuncts[0].state->completed;
  for (const Kept& d : disjuncts)
    if (d.state->default_mode == Default::kIs) {
      ++defaults;
      done = d.state->completed;
    }
  if (defaults == 1 || disjuncts.size() == 1) signal(done);
  return nullptr;
}

// With many disjunctions, those of which only one arm can be by itself come first: what they decide often settles the
// others, which would be multiplied with each other before. The order of the results is not changed by that.
void State::decided_first(std::vector<PendingDisjunction>& all) {
  constexpr std::size_t kMany = 32;
  std::size_t product = 1;
  for (auto& d : all) product = std::min<std::size_t>(product * std::max<std::size_t>(d.arms.size(), 1), 1u << 20);
  if (all.size() < 3 || product < kMany) return;
  std::vector<bool> single(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& d = all[i];
    std::size_t left = 0;
    for (auto& arm : d.arms) {
      if (impossible(d.env, arm.expr, 4)) continue;
      Bottom* err = nullptr;
      State* r = do_disjunct({d.env, arm.expr, d.ci}, arm.mode, Mode::kAttempt, node, &err);
      if (!r) continue;
      ctx.reclaim_all(r->node);
      if (++left > 1) break;
    }
    single[i] = left == 1;
  }
  std::vector<PendingDisjunction> ordered;
  for (bool first : {true, false})
    for (std::size_t i = 0; i < all.size(); ++i)
      if (single[i] == first) ordered.push_back(std::move(all[i]));
  all = std::move(ordered);
}

// With the last disjunction of all, disjuncts come to their values, and nothing is added to them any more.
void State::cross_product(std::vector<State*>& dst, std::vector<State*>& cross, PendingDisjunction& d, Mode mode,
                          bool to_the_end) {
  Restore<int> depth_mark(eval_depth, ctx.eval_depth);
  std::vector<State*> found;
  bool left_drops = true, right_drops = true;
  // Arms that cannot be are not copied for. When none is left all are tried after all, for what there is to say of
  // them.
  for (bool prune : {true, false}) {
    bool pruned = false;
    for (State*& p : cross) {
      init_arcs(ctx, p->node);
      for (auto& arm : d.arms) {
        if (prune && p->impossible(d.env, arm.expr, 4)) {
          pruned = true;
          continue;
        }
        Bottom* err = nullptr;
        State* r = p->do_disjunct({d.env, arm.expr, d.ci}, arm.mode, mode, node, &err);
        if (!r) {
          if (err && err->code == Code::kUser) user_errs.push_back(err);
          // one that lacks something may still be decided with another
          if (err && (!arm.err || arm.err->code < err->code)) arm.err = err;
          continue;
        }
        if (to_the_end) release_leaves(ctx, r->node);
        found.push_back(r);
        if (p->default_mode == Default::kIs || p->orig_default == Default::kIs) left_drops = false;
        if (arm.mode == Default::kIs) right_drops = false;
      }
      // The next copies are made in the place it leaves. While nothing is found it may be tried once more.
      if (!found.empty() && p != this) {
        if (p->node) ctx.reclaim_all(p->node);
        p = nullptr;
      }
    }
    if (!pruned || !found.empty()) break;
  }
  bool decided = false;
  Alike alike;
  for (State* r : found) {
    if (r->disjuncts.empty()) {
      r->default_mode = combine_default(r->default_mode, r->orig_default, left_drops, right_drops);
      append_disjunct(alike, dst, r);
      continue;
    }
    for (const Kept& kept : r->disjuncts) {
      if (!kept.alive()) continue;
      State* x = kept.state;
      Default m = std::max(r->orig_default, x->default_mode);
      x->default_mode = combine_default(r->default_mode, m, left_drops, false);
      if (x->default_mode != Default::kMaybe) decided = true;
      append_disjunct(alike, dst, x);
    }
  }
  if (decided)
    for (State* r : dst)
      if (r->default_mode == Default::kMaybe) r->default_mode = Default::kNot;
}

State* State::do_disjunct(Conjunct c, Default m, Mode mode, Vertex* orig, Bottom** err) {
  Level level(ctx);
  ctx.budget.step();
  Copier copier{ctx};
  blocking.clear();
  std::vector<Task*> saved_blocking;
  saved_blocking.swap(ctx.blocking);
  Node* saved_orig = orig->base;
  Node* saved_base = node->base;
  struct Back {
    Context& c;
    std::vector<Task*>& blocking;
    Vertex* orig;
    Node* orig_base;
    Vertex* node;
    Node* base;
    bool overlay = false;
    ~Back() {
      if (overlay) c.overlays.pop_back();
      stand_for(c, node, base);
      if (!orig->is_disjunct) stand_for(c, orig, orig_base);
      c.blocking.swap(blocking);
    }
  } back{ctx, saved_blocking, orig, saved_orig, node, saved_base};

  State* d = copier.root(this);
  if (!orig->is_disjunct) orig->base = d->node;
  ctx.overlays.push_back({copier.copies.get(), node, orig, &saved_blocking});
  back.overlay = true;
  d->run_mode = mode;
  Vertex* v = d->node;
  node->base = v;
  v->status = Status::kUnprocessed;
  d->schedule_conjunct(c, c.ci);
  copier.unlink();
  d->default_mode = default_mode;
  d->orig_default = m;
  ctx.unify(v, {.condition = kAllKnown, .mode = mode, .check_typos = true});
  if (Bottom* b = d->node ? d->get_error_all() : v->bottom(); b && !ctx.is_cycle(b)) {
    *err = b;
    ctx.reclaim_all(v);
    return nullptr;
  }
  State* out = v->deref_disjunct()->state;
  if (!out) return nullptr;
  out->orig_default = d->orig_default;
  return out;
}

Bottom* State::get_error() {
  if (Bottom* b = node->bottom(); b && !ctx.is_cycle(b)) return b;
  if (Bottom* b = node->child_errors()) return b;
  if (errs) return errs;
  return ctx.errs;
}

Bottom* State::get_error_all() {
  if (Bottom* b = get_error()) return b;
  for (u32 i = 0; i < node->arcs.size(); ++i) {
    Vertex* a = node->arcs[i];
    if (a->arc_type > ArcType::kRequired || a->label.is_let()) return nullptr;
    if (ctx.only_value(a)) continue;
    if (State* n = ctx.state(a))
      if (Bottom* b = n->get_error_all()) return b;
  }
  return nullptr;
}

// The disjunctions up to the one that left nothing. An arm of an earlier one that lacked something may still come to a
// value: whether it does is not known then, in whatever order the disjunctions were taken.
Bottom* State::collect_errors(std::span<const PendingDisjunction> tried) {
  Code code = Code::kEval;
  for (auto& d : tried)
    for (auto& a : d.arms) {
      if (!a.err || a.err->code == Code::kUser) continue;
      bool last = &d == &tried.back();
      if (last || a.err->incomplete()) code = std::max(code, a.err->code);
      if (last) disjunct_errs.push_back(a.err);
    }
  return ctx.store.make<Bottom>(code, disjunct_error(), node);
}

Error* State::disjunct_error() {
  std::vector<ErrorArg> args{ctx.arg(i64{-1})};
  for (Bottom* b : user_errs.empty() ? disjunct_errs : user_errs)
    if (b->error) args.push_back(ctx.arg(static_cast<const Node*>(b)));
  if (args.size() == 1) return ctx.error_at(ctx.src, "empty disjunction");
  if (args.size() == 2) return to<Bottom>(args[1].node)->error;
  return ctx.make_error(ctx.src, kEmptyDisjunction, args);
}

void State::finalize_disjunctions() {
  if (settled && !node->is_err()) {
    node->base = settled;
    return;
  }
  // what was given back is not needed any more: the value has been made of it
  erase_if(disjuncts, [](const Kept& d) { return !d.alive(); });
  if (disjuncts.empty()) return;
  std::size_t failed = 0;
  for (const Kept& d : disjuncts) {
    State* x = d.state;
    x->node->conjuncts.forget();
    if (Bottom* b = x->get_err()) {
      (b->code == Code::kUser ? user_errs : disjunct_errs).push_back(b);
      ++failed;
    }
  }
  if (failed == disjuncts.size()) {
    Code code = Code::kIncomplete;
    if (!disjunct_errs.empty()) {
      code = Code::kEval;
      for (Bottom* b : disjunct_errs) code = std::max(code, b->code);
    }
    node->base = ctx.store.make<Bottom>(code, disjunct_error(), node);
    node->status = Status::kFinalized;
    return;
  }
  bool has_defaults = false;
  std::vector<Node*> values(disjuncts.size());
  u32 p = 0;
  for (std::size_t i = 0; i < disjuncts.size(); ++i) {
    State* x = disjuncts[i].state;
    if (x->default_mode == Default::kIs) {
      has_defaults = true;
      values[i] = values[p];
      values[p++] = x->node;
    } else {
      if (x->default_mode == Default::kNot) has_defaults = true;
      values[i] = x->node;
    }
  }
  auto* d = ctx.store.make<Disjunction>(ctx.store.keep(values));
  d->defaults = p;
  d->has_defaults = has_defaults;
  if (!default_attempt || p == 1)
    node->base = d;
  else
    node->base = ctx.store.make<Bottom>(
        Code::kCycle,
        ctx.error_at(ctx.src, "cycle across unresolved disjunction referenced by {}", default_attempt->label));
  ctx.clear_arcs(node);
  node->set_child_errors(ctx.arena, nullptr);
}

}  // namespace tutti::cue
