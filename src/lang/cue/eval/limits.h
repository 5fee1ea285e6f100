#pragma once

#include <algorithm>

#include "base/budget.h"
#include "base/machine.h"

namespace tutti::cue {

// One level of a configuration is several of the evaluator.
constexpr u32 kLevelsOfEvaluator = 80;

// What evaluating CUE may use, within what the user allows. A comprehension or a disjunction of a few words can ask for
// more than any machine has: that is to end in seconds, with less memory than a machine has.
inline Limits evaluation_limits(Limits l) {
  l.depth *= kLevelsOfEvaluator;
  Limits usual;
  if (l.nodes == usual.nodes) l.nodes = 20'000'000;
  if (l.steps == usual.steps) l.steps = 60'000'000;
  if (l.memory == usual.memory || l.memory == machine_memory())
    l.memory = std::min<u64>(machine_memory(), u64{4} << 30);
  return l;
}

// Alternatives of one value that are kept apart at most.
constexpr std::size_t kMostAlternatives = 16'384;

}  // namespace tutti::cue
