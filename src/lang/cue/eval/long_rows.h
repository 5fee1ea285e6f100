#pragma once

#include <vector>

#include "lang/cue/eval/context.h"

namespace tutti::cue {

// Fields that refer to each other in a long row, the last one written first, would be evaluated one inside the other.
// Where that would go deep, those that others need are evaluated before them: what they come to is the same. So are
// those that are embedded, where they are many: what is complete keeps less than what still waits for its turn.
class LongRows {
 public:
  // Whether there may be such among the fields of a vertex, evaluated as `how` says.
  static bool possible(const State& of, Flags how);
  // With `gives_back` what the evaluation took is not kept.
  LongRows(State& of, Flags how, bool gives_back) : ctx_(of.ctx), of_(of.node), how_(how), gives_back_(gives_back) {}
  void before(Vertex* field);  // it is about to be evaluated

 private:
  struct Step {
    Vertex* v;
    std::size_t begin, next, end;  // of what it needs
    u32 steps = 0;                 // of the longest row that it needs
  };

  void enter(Vertex* v);
  void whole(const Node* x, Environment* env);
  void collect(const Node* x, Environment* env, int depth);

  Context& ctx_;
  Vertex* of_;
  Flags how_;
  bool gives_back_;
  std::vector<Step> path_;
  std::vector<Vertex*> needs_, in_order_;
  std::size_t embedded_ = 0;  // how many are, of those in the row
  IdMap steps_;               // of the rows of fields that were visited, by label
};

}  // namespace tutti::cue
