#include <algorithm>

#include "lang/cue/eval/context.h"

// Fields that refer to each other in a long row, the last one written first, would be evaluated one inside the other.
// Where that went deep, some on the way are evaluated before the others: what they come to is the same.
namespace tutti::cue {

namespace {

constexpr u32 kFew = 64;     // fields of a struct, and steps of a row, for which nothing need be done
constexpr int kDeepest = 8;  // operators inside each other

class Rows {
 public:
  Rows(Context& ctx, Vertex* of, Flags how) : ctx_(ctx), of_(of), how_(how) {}

  void walk(Vertex* from) {
    if (steps_.get(from->label.bits())) return;
    enter(from);
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
      u32 steps = at.steps + 1;
      Vertex* done = at.v;
      needs_.resize(at.begin);
      path_.pop_back();
      if (steps > kFew) {
        ctx_.unify(done, how_);
        steps = 1;
      }
      steps_.at(done->label.bits()) = steps;
      if (!path_.empty()) path_.back().steps = std::max(path_.back().steps, steps);
    }
  }

 private:
  struct Step {
    Vertex* v;
    std::size_t begin, next, end;  // of what it needs
    u32 steps = 0;                 // of the longest row that it needs
  };

  void enter(Vertex* v) {
    std::size_t begin = needs_.size();
    steps_.at(v->label.bits()) = 1;  // one that leads back to itself is left to the evaluation
    if (v->status == Status::kUnprocessed && v->conjuncts.size() == 1)
      collect(expression_of(v->conjuncts[0].x), v->conjuncts[0].env, 0);
    path_.push_back({v, begin, begin, needs_.size()});
  }

  void collect(const Node* x, Environment* env, int depth) {
    if (depth > kDeepest || !env) return;
    switch (x->type) {
      case NodeType::kFieldRef: {
        for (u32 n = to<FieldRef>(x)->up; env && n > 0; --n) env = env->up;
        if (!env || env->vertex != of_) return;
        if (Vertex* to_v = of_->find_raw(to<FieldRef>(x)->label)) needs_.push_back(to_v);
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

  Context& ctx_;
  Vertex* of_;
  Flags how_;
  std::vector<Step> path_;
  std::vector<Vertex*> needs_;
  IdMap steps_;  // of the rows of fields that were visited, by label
};

}  // namespace

void State::complete_long_rows(Flags how) {
  if (node->arcs.size() <= kFew || how.mode != Mode::kFinalize || is_disjunct || !ctx.overlays.empty()) return;
  Rows rows(ctx, node, how);
  for (u32 i = 0; i < node->arcs.size(); ++i) rows.walk(node->arcs[i]);
}

}  // namespace tutti::cue
