#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "tree/steps.h"

// Semantics watched from the command line: what `step` and `agree` have in common.
namespace tutti {

// Something that can be run as often as wanted, always by the same steps.
using Watched = std::function<void(Steps&)>;

// All steps of a run, without their states: rule, path, place, what.
struct TraceLog : Steps {
  explicit TraceLog(std::size_t at_most) : most(at_most) {}
  void step(const RuleStep& s, const std::function<Cells()>&) override {
    if (steps.size() >= most) {
      cut = true;
      throw EnoughSteps{};
    }
    steps.push_back(s);
  }
  std::vector<RuleStep> steps;
  std::size_t most;
  bool cut = false;  // there are more
};
TraceLog log_of(const Watched& run, std::size_t most = 1'000'000);

// The state after one step.
Steps::Cells state_after(const Watched& run, std::size_t number);

// `   16  heat field   p.z   x^3 . y is in hand  (a.cue:3:4)`
std::string step_line(const Session& session, std::size_t number, const RuleStep& step);
// Each cell as K writes it: <env> ... </env>, lines below each other aligned.
std::string cells_text(const Steps::Cells& cells);

// The rules of Concerto on a system, in the order of its expected durations; nullptr with diagnostics.
struct SystemInput;
Watched watched_system(const SystemInput& input);

}  // namespace tutti
