#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "base/budget.h"

namespace tutti::puppet {

// To be called while one value is put together: strings and arrays that double at every step are stopped long before
// the machine's memory is used up, and time passes while they are copied.
inline void grown(Budget& budget, std::size_t bytes) {
  constexpr std::size_t kMost = std::size_t{128} << 20;
  if (bytes > kMost || bytes > budget.limits().memory)
    throw LimitError("LIMIT-MEMORY", fmt::format("one value needs more than {} bytes of memory",
                                                 std::min<std::size_t>(kMost, budget.limits().memory)));
  budget.step(bytes / 64);
}

}  // namespace tutti::puppet
