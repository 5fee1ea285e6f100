#pragma once

#include <span>

#include "engine/rules/rules.h"
#include "tree/steps.h"

namespace tutti::engine {

// The rules of Concerto being watched: a run of steps through them, each told with the configuration that it leads to.
// A configuration is what figures 3 and 4 of the paper draw: the program that is left, for each instance its queue of
// behaviours and its tokens, and of each linked port whether it is provided, in use, refused.
class RuleTrace {
 public:
  RuleTrace(const Rules& rules, Steps& steps);

  // Takes one step, or says that the rules do not allow it. `more` is told beside it ("at 3 s").
  bool take(const Step& step, std::string_view more = {});
  const u64* state() const { return state_.data(); }

 private:
  Steps::Cells cells() const;
  std::string program() const;
  std::string queues() const;
  std::string marking(u32 instance) const;
  std::string ports() const;

  const Rules& rules_;
  Steps& steps_;
  Rules::State state_;
};

// "R1 fire", "R9 pushB"
std::string rule_name(const model::System& system, const Step& step);

}  // namespace tutti::engine
