#include "lang/cue/eval/context.h"

// Structure sharing: a vertex whose only conjunct is a reference stands for the vertex referred to, and nothing is
// copied. When something else arrives the sharing is undone and the conjuncts are added after all.
namespace tutti::cue {

void State::unshare() {
  no_sharing = true;
  if (!is_shared) return;
  is_shared = false;
  node->is_shared = false;
  node->opened_shared = false;
  if (!node->base || node->base->type != NodeType::kVertex) return;  // an error took its place
  auto* v = to<Vertex>(node->base);
  node->base = orig_base;
  for (std::size_t i = 0; i < shared_ids.size(); ++i) schedule_vertex(shared, v, shared_ids[i]);
  count_shared();
}

void State::finalize_sharing() {
  count_shared();
  if (!is_shared || !node->base || node->base->type != NodeType::kVertex) return;
  auto* v = to<Vertex>(node->base);
  if (share_cycle == Cycle::kNone) ctx.finalize(v);
  if (v->state && v->state->link_parent) v->parent = v->state->link_parent;
}

void State::add_shared(const CloseInfo& id) {
  if (shared_ids.empty() || share_cycle < id.cycle) share_cycle = id.cycle;
  shared_ids.push_back(id);
}

void State::count_shared() {
  if (share_decremented) return;
  share_decremented = true;
  for (auto& id : shared_ids) update_info(ctx.kinds(node), id, 0);
}

namespace {
bool detached(Vertex* v) {
  while (v) {
    if (v->rooted()) return false;
    v = v->state && v->state->link_parent ? v->state->link_parent : v->parent;
  }
  return true;
}
}  // namespace

void State::share(const Conjunct& c, Vertex* arc, const CloseInfo& id) {
  orig_base = node->base;
  node->base = arc;
  node->is_shared = true;
  is_shared = true;
  shared = c;
  add_shared(id);
  node->opened_shared = id.opened || id.conjunct_opened;
  if (detached(arc) && !arc->label.is_let() && !arc->anonymous)
    if (State* s = ctx.state(arc)) s->link_parent = node;
}

namespace {
// Whether a let is well, and another name of one that is only a name, and so on: such a row is not gone through by each
// of its names again. Of a short one every name is told where something is wrong.
bool in_long_row(Vertex* let) {
  constexpr int kLong = 8;
  if (let->status != Status::kFinalized || let->bottom()) return false;
  for (int i = 0; i < kLong; ++i) {
    if (!let || let->conjuncts.size() != 1) return false;
    const KeptConjunct& c = let->conjuncts[0];
    const Node* x = expression_of(c.x);
    if (x->type != NodeType::kLetRef) return false;
    Environment* env = c.env;
    for (u32 up = to<LetRef>(x)->up; up > 0 && env; --up) env = env->up;
    let = env && env->vertex ? env->vertex->find_raw(to<LetRef>(x)->label) : nullptr;
  }
  return true;
}
}  // namespace

bool State::share_if_possible(const Conjunct& c, Vertex* arc, const CloseInfo& id) {
  if (!node->arcs.empty() || ctx.unfolding) return false;
  if (arc->non_rooted || arc->is_dynamic) return false;
  if (id.is_cyclic() && (node->non_rooted || node->is_dynamic)) return false;
  if (no_sharing || is_shared || ctx.errs) return false;
  if (node->closed_recursive && !arc->closed_recursive) return false;
  if (arc->label.is_let() && !(node->label.is_let() && in_long_row(arc))) return false;
  if (arc->stands_for(node)) return false;
  share(c, arc, id);
  return true;
}

bool Vertex::stands_for(const Vertex* other) const {
  const Vertex* v = this;
  while (v != other && v->base && v->base->type == NodeType::kVertex) v = to<Vertex>(v->base);
  return v == other;
}

Vertex* Vertex::deref_non_disjunct() {
  Vertex* v = this;
  while (v->base && v->base->type == NodeType::kVertex && !to<Vertex>(v->base)->is_disjunct) v = to<Vertex>(v->base);
  return v;
}

Vertex* Vertex::deref_non_rooted() {
  Vertex* v = this;
  while (v->base && v->base->type == NodeType::kVertex) {
    auto* w = to<Vertex>(v->base);
    if (w->is_disjunct || (v->is_shared && !w->label.is_let())) break;
    v = w;
  }
  return v;
}

Vertex* Vertex::deref_non_shared() {
  if (state && state->is_shared) return this;
  return deref_value();
}

}  // namespace tutti::cue
