#include <fmt/format.h>

#include <algorithm>

#include "lang/cue/eval/context.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/eval/print.h"

// Disjuncts that came to the same value are kept once.
namespace tutti::cue {

namespace {

bool same_value(Context& ctx, Node* a, Node* b) { return a == b || (a && b && ctx.equal(a, b, true)); }

bool equal_tasks(State* x, State* y) {
  auto within = [](State* a, State* b) {
    for (Task* t : a->tasks) {
      if (t->state != TaskState::kReady) continue;
      bool found = false;
      for (Task* u : b->tasks)
        if (t->x == u->x) found = true;
      if (!found) return false;
    }
    return true;
  };
  return within(x, y) && within(y, x);
}

bool equal_partial(Context& ctx, Vertex* x, Vertex* y) {
  if (Node* a = ctx.only_value(x), *b = ctx.only_value(y); a && b)
    return ctx.equal(a, b, true);
  else if (a || b)
    ctx.state(a ? x : y);
  State *nx = x->state, *ny = y->state;
  if (!nx && !ny) return ctx.equal(x, y, true);
  if (!nx || !ny) return false;
  if (nx->kind != ny->kind || nx->has_top != ny->has_top || !same_value(ctx, nx->scalar, ny->scalar) ||
      nx->checks.size() != ny->checks.size() || !equal_tasks(nx, ny) || !same_value(ctx, nx->lower, ny->lower) ||
      !same_value(ctx, nx->upper, ny->upper))
    return false;
  for (std::size_t i = 0; i < nx->checks.size(); ++i)
    if (!ctx.equal(nx->checks[i].x, ny->checks[i].x, true)) return false;
  if (!x->patterns() != !y->patterns()) return false;
  if (x->patterns()) {
    auto &a = x->patterns()->pairs, &b = y->patterns()->pairs;
    if (a.size() != b.size()) return false;
    for (u32 i = 0; i < a.size(); ++i) {
      ctx.finalize(a[i].constraint);
      ctx.finalize(b[i].constraint);
      if (!ctx.equal(a[i].constraint, b[i].constraint, true)) return false;
    }
  }
  if (x->arcs.size() != y->arcs.size()) return false;
  for (u32 i = 0; i < x->arcs.size(); ++i) {
    Vertex* b = y->find_raw(x->arcs[i]->label);
    if (!b || !equal_partial(ctx, x->arcs[i], b)) return false;
  }
  return true;
}

void merge_infos(Context& ctx, State* a, State* b) {
  if (!a || !b || !a->node || !b->node) return;
  for (auto& w : b->infos) {
    bool has = false;
    for (auto& v : a->infos) has |= v.id == w.id;
    if (!has) a->infos.push_back(w);
  }
  a->replaces.insert(a->replaces.end(), b->replaces.begin(), b->replaces.end());
  std::sort(a->replaces.begin(), a->replaces.end());
  a->replaces.erase(std::unique(a->replaces.begin(), a->replaces.end()), a->replaces.end());
  auto state = [&](Vertex* v) { return v->state ? v->state.get() : ctx.state(v); };
  for (Vertex* wa : b->node->arcs) {
    Vertex* va = a->node->find_raw(wa->label);
    if (!va) continue;
    bool alike = ctx.only_value(va) && ctx.only_value(wa) && va->conjuncts[0].ci->def == wa->conjuncts[0].ci->def;
    if (!alike) merge_infos(ctx, state(va), state(wa));
  }
}

}  // namespace

namespace {
// Equal values have equal ones, so that of thousands of disjuncts only a few need to be compared.
u64 fingerprint(const Vertex* v, int depth) {
  v = v->deref_value();
  const Node* n = v->state && v->state->scalar ? v->state->scalar : v->base ? v->base.get() : v->only_value();
  u64 h = 0x9e3779b97f4a7c15u;
  if (n && n->type == NodeType::kString)
    h ^= std::hash<std::string_view>()(to<String>(n)->text);
  else if (n && n->type == NodeType::kNum && to<Num>(n)->value.to_i64())
    h ^= static_cast<u64>(*to<Num>(n)->value.to_i64()) * 0x100000001b3u;
  if (depth == 0) return h;
  for (const Vertex* a : v->arcs) {
    if (a->arc_type != ArcType::kMember || a->label.is_let()) continue;
    u64 k = (fingerprint(a, depth - 1) ^ a->label.bits()) * 0xbf58476d1ce4e5b9u;
    h += k ^ k >> 29;
  }
  return h;
}
}  // namespace

void State::append_disjunct(Alike& alike, std::vector<State*>& a, State* x) {
  constexpr std::size_t kFew = 16;
  x->print = fingerprint(x->node, 4);
  Vertex* nv = x->node->deref_value();
  Node* nx = nv->base;
  if (!nx || ctx.is_cycle(nx)) nx = x->validators();
  if (alike.empty() && a.size() > kFew)
    for (State* s : a) alike[s->print].push_back(s);
  for (State* xn : alike.empty() ? a : alike[x->print]) {
    if (xn == x) return;
    if (xn->print != x->print) continue;
    Vertex* xv = xn->node->deref_value();
    if (xv->status != Status::kFinalized || nv->status != Status::kFinalized) {
      if (!equal_partial(ctx, x->node, xn->node)) continue;
      Node* ny = xv->base;
      if (!ny || ctx.is_cycle(ny)) ny = xn->validators();
      bool vx = nx->is_value(), vy = ny->is_value();
      if (vx && vy && !ctx.equal(nx, ny, true)) continue;
    } else if (!ctx.equal(xv, nv, true)) {
      continue;
    }
    if (x->default_mode == Default::kIs) xn->default_mode = Default::kIs;
    merge_infos(ctx, xn, x);
    ctx.reclaim_all(x->node);
    return;
  }
  if (a.size() >= kMostAlternatives)
    throw LimitError("LIMIT-ALTERNATIVES",
                     fmt::format("{}: more than {} alternatives: a disjunction that nothing decides is multiplied with "
                                 "others; say which branch is meant, for example by a field that differs in each",
                                 path_text(path_of(node)), kMostAlternatives),
                     node->conjuncts.size() > 0 ? node->conjuncts[0].x->pos.at : ctx.src.at);
  a.push_back(x);
  if (!alike.empty()) alike[x->print].push_back(x);
}

}  // namespace tutti::cue
