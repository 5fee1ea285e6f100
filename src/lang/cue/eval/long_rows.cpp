#include "lang/cue/eval/long_rows.h"

#include <algorithm>

namespace tutti::cue {

namespace {
constexpr u32 kFew = 64;  // fields of a struct, steps of a row and others embedded, for which nothing need be done
constexpr int kDeepestOperator = 8;  // operators inside each other
}  // namespace

bool LongRows::possible(const State& of, Flags how) {
  return of.node->arcs.size() > kFew && how.mode == Mode::kFinalize && !of.is_disjunct && of.ctx.overlays.empty();
}

void LongRows::before(Vertex* field) {
  if (steps_.get(field->label.bits())) return;
  in_order_.clear();
  embedded_ = 0;
  enter(field);
  u32 longest = 0;
  while (!path_.empty()) {
    Step& at = path_.back();
    if (at.next < at.end) {
      Vertex* to = needs_[at.next++];
      if (u32 steps = steps_.get(to->label.bits()))
        at.steps = std::max(at.steps, steps);
      else
        enter(to);
      continue;
    }
    Step done = at;
    path_.pop_back();
    needs_.resize(done.begin);
    in_order_.push_back(done.v);
    longest = std::max(longest, done.steps + 1);
    steps_.at(done.v->label.bits()) = done.steps + 1;
    if (!path_.empty()) path_.back().steps = std::max(path_.back().steps, done.steps + 1);
  }
  in_order_.pop_back();  // the field itself
  if (longest <= kFew && embedded_ <= kFew) return;
  for (Vertex* v : in_order_) {
    ctx_.unify(v, how_);
    if (gives_back_ && v->state && !v->state->held_up && v->status == Status::kFinalized) ctx_.reclaim_arc(v);
  }
}

void LongRows::enter(Vertex* v) {
  std::size_t begin = needs_.size();
  steps_.at(v->label.bits()) = 1;  // one that leads back to itself is left to the evaluation
  if (v->status == Status::kUnprocessed && v->conjuncts.size() == 1)
    whole(expression_of(v->conjuncts[0].x), v->conjuncts[0].env);
  path_.push_back({v, begin, begin, needs_.size()});
}

// What is embedded in a literal is needed as much as what is referred to outside of one.
void LongRows::whole(const Node* x, Environment* env) {
  if (x->type != NodeType::kStruct) return collect(x, env, 0);
  std::size_t before = needs_.size();
  Environment inside;
  inside.up = env;
  for (const Node* d : to<StructLit>(x)->decls)
    if (to<StructLit>(x)->has_embedding && d->is_expr()) collect(d, &inside, 0);
  embedded_ += needs_.size() - before;
}

void LongRows::collect(const Node* x, Environment* env, int depth) {
  if (depth > kDeepestOperator || !env) return;
  switch (x->type) {
    case NodeType::kFieldRef: {
      for (u32 n = to<FieldRef>(x)->up; env && n > 0; --n) env = env->up;
      if (!env || env->vertex != of_) return;
      if (Vertex* needed = of_->find_raw(to<FieldRef>(x)->label)) needs_.push_back(needed);
      return;
    }
    case NodeType::kSelector: return collect(to<Selector>(x)->x, env, depth + 1);
    case NodeType::kUnary: return collect(to<Unary>(x)->x, env, depth + 1);
    case NodeType::kInterpolation:
      for (const Node* part : to<Interpolation>(x)->parts) collect(part, env, depth + 1);
      return;
    case NodeType::kBinary:
      if (to<Binary>(x)->op == Op::kAnd) return;
      collect(to<Binary>(x)->x, env, depth + 1);
      collect(to<Binary>(x)->y, env, depth + 1);
      return;
    default: return;
  }
}

}  // namespace tutti::cue
