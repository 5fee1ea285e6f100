#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "base/budget.h"
#include "lang/puppet/types/value.h"

namespace tutti::puppet {

// What compiling one catalog may use, within what the user allows. Loops that are legal and have no end are to be told
// after seconds; 20,000 resources through a define take some 300,000.
inline Limits compile_limits(Limits l) {
  if (l.steps == Limits{}.steps) l.steps = 100'000'000;
  if (l.nodes == Limits{}.nodes)
    l.nodes = 1'000'000;  // no machine has so many: defines that declare themselves twice do
  return l;
}

// To be called where all of a value may be looked at: large ones take longer than a step, small ones do not.
inline void looked_at(Budget& budget, const Val& v) {
  if (v.is(VK::kArray) || v.is(VK::kHash))
    budget.step(v.weight / 4);
  else if (v.is(VK::kString) && v.size > 32)
    budget.step(v.size / 32);
}

// And where it is copied, or compared with one that may be equal.
inline void gone_through(Budget& budget, const Val& v) {
  looked_at(budget, v);
  if (v.is(VK::kArray) || v.is(VK::kHash)) budget.step(v.weight);
}

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
