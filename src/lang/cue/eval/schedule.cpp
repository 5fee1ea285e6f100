#include "lang/cue/eval/context.h"

// The scheduler of one vertex: which tasks to run for what has to be known, and which to wake when it is.
namespace tutti::cue {

Cond task_completes(TaskKind k) {
  switch (k) {
    case TaskKind::kExpr:
    case TaskKind::kResolver: return kGenericConjunct;
    case TaskKind::kDisjunctions: return kGenericConjunct | kDisjunctionTask;
    default: return kFieldConjunct;
  }
}

Task* Context::new_task() {
  if (task_pool_.empty()) return new (arena.allocate(sizeof(Task), alignof(Task))) Task();
  Task* t = task_pool_.back();
  task_pool_.pop_back();
  *t = Task();
  return t;
}

namespace {

// A comprehension whose body declares fields by name holds back only those fields, not the whole vertex: the fields are
// made at once, not yet known to be there, and the comprehension becomes their concern. That is what lets
// comprehensions of one struct depend on each other's fields. Returns what the comprehension holds back of the vertex
// itself.
Cond push_down(State* n, Task* t, Node* x) {
  Cond completes = 0;
  switch (x->type) {
    case NodeType::kComprehension: completes = push_down(n, t, to<Comprehension>(x)->value); break;
    case NodeType::kStruct:
      for (Node* d : to<StructLit>(x)->decls) {
        switch (d->type) {
          case NodeType::kField: {
            auto* f = to<Field>(d);
            Vertex* arc = n->get_arc(f->label, ArcType::kPending);
            if (State* s = n->ctx.bare_state(arc)) {
              s->parent_tasks.push_back(t);
              push_down(s, t, f->value);
            }
            break;
          }
          case NodeType::kPattern:
          case NodeType::kEllipsis:
          case NodeType::kDynamicField: completes |= kFieldConjunctsKnown; break;
          case NodeType::kLetField:
            completes |= kFieldConjunctsKnown;
            n->node->multi_let = true;
            break;
          default:
            if (d->is_value())
              completes |= kValueKnown;
            else
              completes |= push_down(n, t, d);
        }
      }
      break;
    default: completes = kValueKnown | kFieldConjunctsKnown;
  }
  return completes | kTasksDone;
}

}  // namespace

Task* State::schedule_task(TaskKind k, Environment* env, Node* x, const CloseInfo& id) {
  Task* t = ctx.new_task();
  t->run = k;
  t->node = this;
  t->env = env;
  t->id = id;
  t->x = x;
  Cond c = k == TaskKind::kComprehension ? push_down(this, t, x) : task_completes(k);
  provided |= c;
  t->completes = c;
  increment(c);
  // disjunctions go last
  if (k == TaskKind::kDisjunctions || tasks.empty() || tasks.back()->run != TaskKind::kDisjunctions) {
    tasks.push_back(t);
  } else {
    auto at = tasks.end();
    while (at != tasks.begin() && (*(at - 1))->run == TaskKind::kDisjunctions) --at;
    first_ready = std::min(first_ready, static_cast<u32>(at - tasks.begin()));
    tasks.insert(at, t);
  }
  return t;
}

void State::increment(Cond c) {
  c &= kCounted;
  for (int i = 0; c; ++i, c >>= 1)
    if (c & 1) ++counters[i];
}

void State::decrement(Cond c) {
  c &= kCounted;
  Cond done = 0;
  for (int i = 0; c; ++i, c >>= 1)
    if (c & 1 && --counters[i] == 0) done |= static_cast<Cond>(1 << i);
  signal(done);
}

std::size_t State::first_not_started() {
  while (first_ready < tasks.size() && tasks[first_ready]->state != TaskState::kReady) ++first_ready;
  return first_ready;
}

bool State::all_tasks_finished() const {
  for (Task* t : tasks)
    if (t->state < TaskState::kSuccess) return false;
  return true;
}

Vertex* State::waits_for_tried() const {
  for (const Task* t : tasks)
    if (t->for_tried) return t->for_tried;
  return nullptr;
}

bool State::has_active_parent_task() const {
  for (Task* t : parent_tasks)
    if (t->state < TaskState::kSuccess) return true;
  return false;
}

void State::signal(Cond c) {
  Cond was = completed;
  completed |= c;
  Cond freeze_too = c & kFieldSetKnown ? defer_field_set(c) : c;
  if (was == completed) {
    frozen |= freeze_too;
    return;
  }
  completed |= completions();
  frozen |= freeze_too;
  for (std::size_t i = 0, n = blocking.size(); i < n && i < blocking.size(); ++i) {
    Task* t = blocking[i];
    if (t->blocked_on != this || (t->block_cond & completed) != t->block_cond) continue;
    t->block_cond = kNever;
    t->blocked_on = nullptr;
    run_task(t, Mode::kAttempt);
  }
}

void State::freeze(Cond c) {
  frozen |= defer_field_set(c);
  completed |= c;
  completions();
  is_frozen = true;
}

// The set of fields cannot be frozen while tasks that may add to it have not begun.
Cond State::defer_field_set(Cond c) {
  if (!(c & kFieldSetKnown)) return c;
  Task* now = ctx.current();
  for (Task* t : parent_tasks)
    if (t->state < TaskState::kSuccess && t != now) return c & ~kFieldSetKnown;
  for (Task* t : tasks) {
    if (!(task_completes(t->run) & kFieldConjunctsKnown)) continue;
    if (t->state == TaskState::kReady) return c & ~kFieldSetKnown;
    if (t->state == TaskState::kRunning && t->run != TaskKind::kComprehension) return c & ~kFieldSetKnown;
  }
  return c;
}

// What follows from what is known.
Cond State::completions() {
  Cond x = completed;
  Vertex* v = node;
  auto met = [&](Cond c) { return (x & c) == c; };
  if (met(kAncestorsDone)) {
    x |= kCounted & ~provided;
    if (counters[2] == 0 && met(kSubFieldsDone)) x |= kArcTypeKnown;
  }
  if (v->arc_type == ArcType::kMember || v->arc_type == ArcType::kNotPresent) {
    x |= kArcTypeKnown;
  } else if (x & kArcTypeKnown && v->arc_type == ArcType::kPending) {
    if (!has_active_parent_task()) v->arc_type = ArcType::kNotPresent;
  }
  if (met(kValueKnown) && (v->arc_type == ArcType::kMember || v->arc_type == ArcType::kNotPresent)) x |= kScalarKnown;
  if (met(kNeedFieldConjuncts | kNeedTasksDone) && !met(kFieldSetKnown)) {
    if (counters[kTasksIndex] > 0 || counters[kFieldConjunctsIndex] > 0) return x;
    if (!met(kSubFieldsDone))
      for (Vertex* a : v->arcs)
        if (a->arc_type == ArcType::kPending) return x;
    x |= kFieldSetKnown;
  }
  return x;
}

bool Context::parents_done(Vertex* v) {
  if (!v) return true;
  State* n = state(v);
  return !n || n->meets(kFieldConjunctsKnown | kAncestorsDone);
}

// A vertex can still get conjuncts as long as its ancestors have not been through all of theirs.
bool State::process_ancestors(Mode mode) {
  if (meets(kAncestorsDone)) return true;
  Level level(ctx);
  bool parents = true;
  if (Vertex* p = node->parent) {
    State* n = p->state;
    if (n && !n->meets(kChildConjunctsDone)) {
      parents = n->process_ancestors(mode);
      if (n->counters[kFieldConjunctsIndex] > 0) n->process(kFieldConjunctsKnown, mode);
      if (parents && n->counters[kFieldConjunctsIndex] == 0) n->completed |= kChildConjunctsDone;
    }
  }
  if (node->is_dynamic || node->label.is_let() || ctx.parents_done(node->parent)) signal(kAncestorsDone);
  return parents;
}

bool State::process(Cond want, Mode mode) {
  Hold hold(this);
  ctx.budget.step(1 + tasks.size() / kLookedAtInAStep);
  signal(completions());
  if (!meets(want)) process_ancestors(mode);

  bool ran_parent = false;
  for (std::size_t i = 0; i < parent_tasks.size(); ++i)
    if (parent_tasks[i]->state == TaskState::kReady) {
      run_task(parent_tasks[i], mode);
      ran_parent = true;
    }
  if (ran_parent && !meets(want)) process_ancestors(mode);

  if (node->arc_type == ArcType::kPending && mode == Mode::kFinalize) {
    tasks.clear();
    first_ready = 0;
  }
  sched = SchedState::kRunning;

  Cond select = want;
  if (want & kScalarKnown) select |= kValueKnown;
  if (want & kFieldSetKnown) select |= kFieldConjunctsKnown;

  bool running_comp = comprehensions > 0, inserting_comp = inserting > 0, pending_disjunction = false;
  for (auto t = tasks.end(); t != tasks.begin() && (*(t - 1))->run == TaskKind::kDisjunctions; --t)
    pending_disjunction |= (*(t - 1))->state == TaskState::kReady;

  std::size_t at = 0;
  while (true) {
    // what a task looks up runs those after it: they are passed over here
    while ((at = std::max(at, first_not_started())) < tasks.size()) {
      Task* t = tasks[at++];
      if (t->state != TaskState::kReady) continue;
      if (!(t->completes & select)) continue;
      if (running_comp && t->run == TaskKind::kComprehension) continue;
      if (inserting_comp && t->run == TaskKind::kResolver) continue;
      // a comprehension pushed down waits, so that each disjunct gets its own
      if (pending_disjunction && t->run == TaskKind::kComprehension && t->completes == kTasksDone) continue;
      run_task(t, mode);
    }
    if (mode != Mode::kFinalize && mode != Mode::kYield) return meets(want);
    if (mode == Mode::kYield) {
      if (meets(want)) return true;
      if (Vertex* tried = waits_for_tried()) {
        if (const Context::Overlay* o = ctx.trying_elsewhere(tried)) {
          ctx.current()->for_tried = tried;
          wait_for(ctx.current(), want, *o->blocking);
        }
        // what waits until it is decided which disjunct it is cannot decide that
        ctx.add_errf(Code::kCycle, ctx.src, "cycle with field: {}", node->label);
        return false;
      }
      if (Task* t = ctx.current()) wait_for(t, want, ctx.blocking);
    }
    // what is made while a task runs, and waits for nothing, is no reason to give up what others wait for
    if (mode == Mode::kFinalize && ctx.current() && (tasks.empty() || (!node->parent && all_tasks_finished())))
      return true;
    // deadlock: take what is not known as decided, then let the waiting tasks go on
    auto& blocked = ctx.blocking;
    while (true) {
      ctx.budget.step(blocked.size() / kLookedAtInAStep);
      for (std::size_t i = 0, n = blocked.size(); i < n && i < blocked.size(); ++i)
        if (State* s = blocked[i]->blocked_on) s->signal(kScalarKnown | kArcTypeKnown);
      for (std::size_t i = 0; i < blocked.size(); ++i)
        if (Task* t = blocked[i]; t->blocked_on) {
          t->blocked_on->freeze(t->block_cond);
          t->unblocked = true;
        }
      std::size_t n = blocked.size();
      for (std::size_t i = 0; i < n && i < blocked.size(); ++i) {
        Task* t = blocked[i];
        if (!t->blocked_on || t->defunct) continue;
        State* s = t->blocked_on;
        Cond c = t->block_cond;
        t->blocked_on = nullptr;
        t->block_cond = kNever;
        s->signal(c);
        run_task(t, Mode::kAttempt);
      }
      if (at < tasks.size()) break;
      if (n < blocked.size()) continue;
      blocked.clear();
      return true;
    }
  }
}

void State::wait_for(Task* t, Cond c, std::vector<Task*>& list) {
  needs |= c;
  t->state = TaskState::kWaiting;
  t->block_cond = c;
  t->blocked_on = this;
  blocking.push_back(t);
  list.push_back(t);
  throw Yield{};
}

void State::run_task(Task* t, Mode mode) {
  if (t->defunct) {
    t->state = TaskState::kCancelled;
    return;
  }
  State* n = t->node;
  Context& ctx = n->ctx;
  if (n->has_ancestor_cycle) {
    if (t->run == TaskKind::kComprehension && n->only_cyclic()) {
      t->state = TaskState::kSuccess;
      return;
    }
    if (t->run == TaskKind::kDisjunctions) {
      t->state = TaskState::kSuccess;
      return;
    }
  }
  if (t->state == TaskState::kSuccess || t->state == TaskState::kFailed) return;
  ctx.budget.step();
  Level level(ctx);
  Hold hold(n);
  ctx.free_scope.push_back(n);
  std::size_t depth = ctx.stack.size();
  bool yielded = false;
  bool comprehension = t->run == TaskKind::kComprehension;
  n->comprehensions += comprehension;
  try {
    ArcScope arc(ctx, n->node);
    ctx.stack.push_back(t);
    Context::Frame saved{ctx.e, ctx.errs, ctx.src, ctx.ci};
    bool pushed = t->env != nullptr;
    if (pushed) saved = ctx.push_conjunct(Conjunct{t->env, t->x, t->id});
    struct Pop {
      Context& c;
      Context::Frame& f;
      bool pushed;
      ~Pop() {
        if (pushed) c.pop_state(f);
      }
    } pop{ctx, saved, pushed};
    t->state = TaskState::kRunning;
    t->for_tried = nullptr;
    t->err = nullptr;
    switch (t->run) {
      case TaskKind::kExpr: {
        CloseInfo ci;
        Node* v = ctx.eval_ci(t->x, {.condition = kScalarKnown, .mode = mode}, &ci);
        // a cycle in a pattern is no more than a reference cycle
        if (!(ci.is_cyclic() && n->node->is_pattern) && v) n->insert_value(t->env, v, ci);
        break;
      }
      case TaskKind::kResolver: n->run_resolver(t, mode); break;
      case TaskKind::kDynamic: n->run_dynamic(t, mode); break;
      case TaskKind::kPattern: n->run_pattern(t); break;
      case TaskKind::kComprehension: n->run_comprehension(t); break;
      case TaskKind::kListLit: n->run_list_lit(t, mode); break;
      case TaskKind::kListVertex: n->run_list_vertex(t); break;
      case TaskKind::kDisjunctions: t->err = ctx.combine(t->err, n->run_disjunctions()); break;
    }
    Bottom* errs = ctx.take_err();
    for (std::size_t i = 0; i < n->deferred.size(); ++i) {
      Vertex* d = n->deferred[i];
      ctx.complete_arcs_only(d);
      if (d->base && d->base->type == NodeType::kBottom) n->add_bottom(to<Bottom>(d->base));
    }
    if (t->retry) {
      t->retry = false;
      t->state = TaskState::kReady;
      n->first_ready = 0;
    } else if (t->state != TaskState::kWaiting) {
      t->blocked_on = nullptr;
      t->block_cond = kNever;
      t->err = ctx.combine(t->err, errs);
      t->state = t->err ? TaskState::kFailed : TaskState::kSuccess;
      if (t->err) n->add_bottom(t->err);
      Cond c = t->completes;
      n->decrement(c);
      t->completes = 0;
    }
  } catch (const Yield&) {
    yielded = true;
  }
  n->comprehensions -= comprehension;
  ctx.stack.resize(depth);
  ctx.free_scope.pop_back();
  if (n->to_complete) {
    n->to_complete = false;
    n->complete_tasks(Mode::kAttempt);
  }
  if (yielded && t->state == TaskState::kRunning) t->state = t->err ? TaskState::kFailed : TaskState::kSuccess;
}

// Runs what has not been started.
void State::complete_tasks(Mode mode) {
  if (mode == Mode::kAttempt && !(node->status == Status::kFinalized || initialized)) return;
  if (completing > 0) return;
  ++completing;
  struct Done {
    int& n;
    ~Done() { --n; }
  } done{completing};
  if (node->is_dynamic || node->label.is_let() || ctx.parents_done(node->parent)) signal(kAncestorsDone);
  if (!all_tasks_started()) {
    process(kValueKnown | kFieldConjunctsKnown, mode);
    update_scalar();
  }
}

}  // namespace tutti::cue
