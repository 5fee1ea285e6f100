#include "lang/cue/eval/context.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "lang/cue/eval/evidence.h"
#include "lang/cue/eval/limits.h"

namespace tutti::cue {

namespace {
Vertex* make_empty(NodeStore& store) {
  auto* v = store.make<Vertex>();
  v->status = Status::kFinalized;
  return v;
}
Bottom* make_cycle(NodeStore& store) {
  auto* e = store.arena().make<Error>();
  e->format = "cycle error";
  return store.make<Bottom>(Code::kCycle, e);
}
}  // namespace

Context::Context(NodeStore& s, Budget& b)
    : store(s),
      arena(s.arena()),
      budget(b),
      cycle(make_cycle(s)),
      empty_node(make_empty(s)),
      struct_marker(s.make<StructMarker>()),
      leaf_view_(std::make_unique<State>(*this)) {}

Context::~Context() {
  for (State* s : states_) s->~State();
}

void Context::too_deep() const {
  bool out_of_stack = levels < budget.limits().depth;
  throw LimitError("LIMIT-DEPTH",
                   out_of_stack ? "nested deeper than the stack holds"
                                : fmt::format("nested deeper than {} levels (--limit depth=N)",
                                              budget.limits().depth / kLevelsOfEvaluator),
                   src.at);
}

Context::Frame Context::push_conjunct(const Conjunct& c) {
  Frame f{e, errs, src, ci};
  errs = nullptr;
  if (Pos at = expression_of(c.x)->pos) src = at;
  e = c.env;
  ci = c.ci;
  return f;
}

Vertex* Context::new_root(std::span<StructLit* const> files) {
  Vertex* v = new_vertex();
  Environment* env = arena.make<Environment>();
  for (StructLit* f : files) v->conjuncts.push(arena, {env, f, {}});
  return v;
}

Vertex* Context::inline_vertex(Node* base, const Conjunct* c) {
  Vertex* v = new_vertex();
  v->base = base;
  v->is_dynamic = true;
  if (c) v->conjuncts.push(arena, *c);
  if (!free_scope.empty()) free_scope.back()->to_free.push_back(v);
  if (in_detached > 0) v->anonymous = true;
  return v;
}

Environment* Context::new_env(Environment* up, Vertex* v) {
  auto* env = arena.make<Environment>();
  env->up = up;
  env->vertex = v;
  if (up) env->comp_id = up->comp_id;
  return env;
}

Environment* Context::env_up(u32 n) {
  Environment* env = e;
  while (n-- > 0 && env->up) env = env->up;
  return env;
}

Vertex* Context::overlay_root(Vertex* v) {
  budget.step(overlays.size() / 4);
  for (std::size_t i = overlays.size(); i-- > 0;)
    if (Vertex* copy = overlays[i].copies->last(v)) return copy;
  return v;
}

bool Context::is_cycle(Node* v) {
  if (v && v->type == NodeType::kVertex) v = to<Vertex>(v)->deref_value()->base;
  return v == cycle;
}

// ---- states

State* Context::new_state(Vertex* v) {
  State* n = free_states_;
  if (n) {
    free_states_ = n->next_free;
    n->next_free = nullptr;
  } else {
    if (arena.bytes() + sizeof(State) > budget.limits().memory) {
      throw LimitError("LIMIT-MEMORY",
                       fmt::format("needs more than {} bytes of memory (--limit memory=N)", budget.limits().memory),
                       src.at);
    }
    states_.push_back(new (arena.allocate(sizeof(State), alignof(State))) State(*this));
    n = states_.back();
  }
  n->node = v;
  n->underlying = v;
  if (v->parent && v->parent->state) n->is_disjunct = v->parent->state->is_disjunct;
  return n;
}

void Context::free_state(State* s) {
  for (Task* t : s->blocking)
    if (t->blocked_on == s) {
      t->blocked_on = nullptr;
      t->block_cond = kNever;
    }
  for (Task* t : s->tasks) {
    bool listed = t->state == TaskState::kWaiting || t->state == TaskState::kRunning;
    if (listed)
      t->defunct = true;  // whoever wakes it finds that there is nothing left to do
    else
      free_task(t);
  }
  s->node->state = nullptr;
  static_cast<StateFlags&>(*s) = StateFlags();
  s->node = s->underlying = s->link_parent = nullptr;
  s->refs = 0;
  ++s->life;
  s->is_disjunct = s->has_disjunction = s->is_frozen = s->held_up = false;
  s->sched = SchedState::kReady;
  s->completed = s->needs = s->provided = s->frozen = 0;
  s->counters = {};
  s->first_ready = 0;
  s->min_flat_to = 0;
  s->containment_queries = 0;
  s->settled = nullptr;
  s->print = 0;
  if (!s->ancestries.empty()) s->ancestries = {};
  auto reset = [](auto& v) {
    if (v.capacity() > 64)
      v = {};
    else
      v.clear();
  };
  reset(s->tasks), reset(s->parent_tasks), reset(s->blocking), reset(s->deferred), reset(s->to_free), reset(s->arc_map);
  reset(s->notify), reset(s->shared_ids), reset(s->cyclic), reset(s->reqs), reset(s->replaces), reset(s->flat_replaces);
  reset(s->infos), reset(s->req_sets), reset(s->checks), reset(s->post_checks), reset(s->disjunctions),
      reset(s->disjuncts);
  reset(s->disjunct_errs), reset(s->user_errs);
  s->copies.reset();
  s->reqs_index.reset();
  s->infos_index.reset();
  s->arc_index.reset();
  s->keys.reset();
  s->keyed = 0;
  s->next_free = free_states_;
  free_states_ = s;
}

namespace {
void reclaim_disjuncts(Context& c, Vertex* v) {
  if (!v->base) return;
  std::span<Node*> values;
  if (v->base->type == NodeType::kDisjunction)
    values = to<Disjunction>(v->base)->values;
  else if (v->base->type == NodeType::kConjunction)
    values = to<Conjunction>(v->base)->values;
  for (Node* x : values)
    if (x->type == NodeType::kVertex) c.reclaim_all(to<Vertex>(x));
}
}  // namespace

// Everything that v holds for evaluating is given back.
void Context::reclaim_all(Vertex* v) {
  if (State* n = v->state) {
    if (n->refs == 0) {
      List<Vertex*> list;
      list.swap(n->to_free);
      for (Vertex* x : list) reclaim_all(x);
      reclaim_disjuncts(*this, v);
      if (v->state == n && n->refs == 0) free_state(n);
    }
  }
  if (Patterns* list = v->patterns())
    for (auto& p : list->pairs)
      if (p.constraint->state) reclaim_all(p.constraint);
  for (Vertex* a : v->arcs) reclaim_all(a);
}

// v is finalized: what its arcs held is no longer needed. Its own state is, until its parent is done too.
void Context::reclaim(Vertex* v) {
  State* n = v->state;
  if (n && n->refs == 0) {
    List<Vertex*> list;
    list.swap(n->to_free);
    for (Vertex* x : list) reclaim_all(x);
    if (n->is_disjunct) return;
    reclaim_disjuncts(*this, v);
    if (!v->parent || v->label.is_let())
      if (v->state == n && n->refs == 0) free_state(n);
  }
  if (Patterns* list = v->patterns())
    for (auto& p : list->pairs)
      if (p.constraint->state && p.constraint->status == Status::kFinalized) reclaim(p.constraint);
  for (u32 i = 0; i < v->arcs.size(); ++i) reclaim_arc(v->arcs[i]);
}

void Context::reclaim_arc(Vertex* a) {
  State* s = a->state;
  if (!s || s->refs > 0 || s->is_disjunct) return;
  if (a->deref_disjunct() != a) reclaim_all(a);
  if (a->state == s && s->node) free_state(s);
}

void Context::clear_arcs(Vertex* v) {
  for (Vertex* a : v->arcs) reclaim_all(a);
  v->forget_arcs();
}

// ---- whole values

// a & b as a value of its own, for validators.
Vertex* Context::unify_values(Node* a, Node* b) {
  Vertex* v = new_vertex();
  if (vertex) {
    v->parent = vertex->parent;
    v->label = vertex->label;
  }
  State* s = bare_state(v);
  for (Node* x : {a, b}) {
    CloseInfo info = ci;
    info.from_def = false;
    if (x->type != NodeType::kVertex || to<Vertex>(x)->is_data_value()) info.cycle = Cycle::kNone, info.refs = nullptr;
    if (x->type == NodeType::kVertex) {
      info = s->new_req(nullptr, info, DefKind::kStruct);
      for (Vertex* p = to<Vertex>(x); p; p = p->parent)
        if (p->label.is_def()) {
          info.top_def = true;
          break;
        }
    }
    v->conjuncts.push(arena, {nullptr, x, info});
  }
  s = state(v);
  if (s) {
    s->drop_parent_requirements = true;
    if (vertex && vertex->state) s->has_non_cyclic = vertex->state->has_non_cyclic;
  }
  finalize(v);
  return v;
}

// A copy that is plain data: no conjuncts are followed and nothing is closed.
Vertex* Context::to_data(Vertex* v) {
  finalize(v);
  Vertex* w = v->copy(store);
  w->state = nullptr;
  w->status = Status::kFinalized;
  w->is_data = true;
  w->closed_recursive = false;
  w->closed_once = false;
  w->forget_arcs();
  for (u32 i = 0; i < v->arcs.size(); ++i) {
    Vertex* a = v->arcs[i];
    if (a->label.is_regular() && is_defined(a)) w->add_arc(arena, to_data(a));
  }
  if (w->base && w->base->type == NodeType::kVertex) {
    w->base = to_data(to<Vertex>(w->base));
  } else if (w->base && w->base->type == NodeType::kDisjunction) {
    auto* d = to<Disjunction>(w->base);
    if (d->defaults == 1) {
      Node* x = d->values[0];
      w->base = x->type == NodeType::kVertex ? to_data(to<Vertex>(x)) : x;
    } else {
      std::vector<Node*> values;
      for (std::size_t i = 0; i < (d->defaults ? d->defaults : d->values.size()); ++i) {
        Node* x = d->values[i];
        values.push_back(x->type == NodeType::kVertex ? to_data(to<Vertex>(x)) : x);
      }
      auto* c = store.make<Disjunction>(store.keep(values));
      c->has_defaults = d->has_defaults;
      c->defaults = d->defaults;
      w->base = c;
    }
  }
  return w;
}

namespace {
// A value that needs no evaluation; nullptr for others.
Node* plain_scalar(Node* n) {
  if (n->type == NodeType::kVertex) {
    Vertex* v = to<Vertex>(n)->deref_value();
    if (v->status != Status::kFinalized || !v->base) return nullptr;
    n = v->base;
  }
  return n->type <= NodeType::kBytes ? n : nullptr;
}
}  // namespace

Vertex* Context::new_list(std::span<Node* const> values) {
  auto* l = store.make<ListLit>();
  if (!values.empty()) {
    auto* place = static_cast<Node**>(arena.take(values.size_bytes()));
    std::ranges::copy(values, place);
    l->elems = {place, values.size()};
  }
  Conjunct c{nullptr, l, {}};
  Vertex* out = inline_vertex(nullptr, &c);
  if (std::ranges::all_of(values, [](Node* n) { return plain_scalar(n) != nullptr; })) {
    // there is nothing to find out
    budget.step(values.size());
    out->base = store.make<ListMarker>(false);
    out->arcs.reserve(arena, static_cast<u32>(values.size()));
    for (u32 i = 0; i < values.size(); ++i) {
      Vertex* a = new_vertex();
      budget.node();
      a->parent = out;
      a->label = Label::integer(i);
      a->non_rooted = true;
      a->anonymous = out->anonymous;
      a->conjuncts.push(arena, {nullptr, values[i], {}});
      a->base = plain_scalar(values[i]);
      a->status = Status::kFinalized;
      out->add_arc(arena, a);
    }
    out->status = Status::kFinalized;
    return out;
  }
  finalize(out);
  return out;
}

bool Context::made_by_function(Node* n) {
  if (n->type != NodeType::kVertex) return false;
  auto* v = to<Vertex>(n);
  return v->is_dynamic && !v->parent && v->is_list() && v->conjuncts.size() == 1 && !v->conjuncts[0].env &&
         v->conjuncts[0].x->type == NodeType::kList && !v->conjuncts[0].x->pos;
}

void Context::give_back_list(Vertex* v) {
  if (v->state) return;
  for (const Vertex* a : v->arcs)
    if (a->state || a->rare || a->parent != v || !a->arcs.empty()) return;
  for (Vertex* a : v->arcs) {
    if (!leads_nowhere_.empty()) leads_nowhere_.erase(a);
    a->conjuncts.give_back(arena);
    free_vertices_.push_back(a);
  }
  v->arcs.give_back(arena);
  v->forget_arcs();
  auto* l = to<ListLit>(v->conjuncts[0].x.get());
  arena.give(l->elems.data(), l->elems.size_bytes());
  l->elems = {};
  for (auto& [made, of] : made_of_)
    if (made == v) give_back_list(std::exchange(of, nullptr)), made = nullptr;
}

void Context::give_back_arguments(const Call* x, std::span<Node* const> args, Node* result) {
  if (unfolding || !overlays.empty()) return;
  bool scalar = result->type <= NodeType::kBytes, list = made_by_function(result);
  if (!scalar && !list) return;
  for (std::size_t i = 0; i < args.size() && i < x->args.size(); ++i) {
    if (x->args[i]->type != NodeType::kCall || args[i] == result || !made_by_function(args[i])) continue;
    auto* v = to<Vertex>(args[i]);
    if (scalar)
      give_back_list(v);
    else
      made_of_[next_made_of_++ % made_of_.size()] = {to<Vertex>(result), v};
  }
}

NodeStore::~NodeStore() {
  for (Num* n : big_) n->value = Decimal();
}

Num* NodeStore::num(Kinds kind, const Decimal& d, const ast::Node* src) {
  Num* n = make<Num>(kind, d, src);
  if (!d.fits_u64()) big_.push_back(n);
  return n;
}

}  // namespace tutti::cue
