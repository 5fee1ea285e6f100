#pragma once

#include <functional>
#include <vector>

#include "base/types.h"

namespace tutti {

// One step of turning a sequence into another.
struct SequenceStep {
  enum class What : u8 { kBoth, kRemoved, kAdded } what;
  std::size_t before, after;  // positions; of the one it is not in: where it would be
};

// A shortest way from a sequence of n items to one of m (Myers' greedy algorithm). Two that have next to nothing in
// common are given as removed and added whole, so that the cost stays bounded.
std::vector<SequenceStep> sequence_diff(std::size_t n, std::size_t m,
                                        const std::function<bool(std::size_t, std::size_t)>& equal);

}  // namespace tutti
