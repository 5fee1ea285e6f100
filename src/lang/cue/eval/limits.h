#pragma once

#include <fmt/format.h>

#include "base/budget.h"
#include "base/limit_place.h"
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
  if (l.memory == usual.memory) l.memory = machine_memory();
  return l;
}

// The longest text and list that an expression or a function may make. Asked before memory is taken for them.
constexpr u64 kLongestText = u64{1} << 28, kLongestList = 20'000'000;
inline void check_text(u64 bytes) {
  if (bytes > kLongestText) throw LimitError("LIMIT-STRING", "a string grows past 256 MB", limit_place());
}
inline void check_list(u64 items) {
  if (items > kLongestList)
    throw LimitError("LIMIT-NODES", fmt::format("a list grows past {} values", kLongestList), limit_place());
}

// Counts what is written out. Values that stand in many places share their memory until then, so few of them can be
// more text than fits anywhere.
class WritingLimit {
 public:
  explicit WritingLimit(const Limits& limits) : count_(limits) {}

  // One more value; the text so far is so long.
  void value(u64 text = 0) {
    count_.node();
    if (text > count_.limits().memory / 4) too_large();
  }
  // One more value of which syntax is made first, with what the layout of the syntax needs.
  void syntax() {
    constexpr u64 kBytesOfSyntax = 600;
    value();
    if (++syntax_ * kBytesOfSyntax > count_.limits().memory) too_large();
  }

 private:
  [[noreturn]] void too_large() const {
    throw LimitError("LIMIT-MEMORY",
                     fmt::format("writing the result needs more than {} bytes of memory (--limit memory=N)",
                                 count_.limits().memory));
  }

  Budget count_;
  u64 syntax_ = 0;
};

// Alternatives of one value that are kept apart at most.
constexpr std::size_t kMostAlternatives = 16'384;

}  // namespace tutti::cue
