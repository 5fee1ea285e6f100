#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "text/source.h"

namespace tutti {

// One step of a semantics as its paper numbers them.
struct RuleStep {
  std::string rule;  // the rule's name or number there: "DEF", "definition 13", "7.2.2", "R1 fire"
  std::string path;  // what of the program it was applied to: "sfConfig:web", "node default", "client"
  Span at;           // where that is written, as far as it is known
  std::string what;  // what changed, in one line
};

// A semantics that is being watched. Every reference interpreter (`lang/*/reference`, `engine/rules`) tells its steps
// to one of these: `tutti step` shows them, `tutti agree` shows those around a difference. The interpreters are
// deterministic, so that a step is found again by its number, and going back is running once more: nothing is kept of
// the states in between, of which there may be as many as steps.
class Steps {
 public:
  // The state after a step, cell by cell: `k`, `env`, `path`; or `environment`, `definitions`, `catalog`; or `store`.
  // Writing it out may cost far more than the step: it is made only for who asks.
  using Cells = std::vector<std::pair<std::string, std::string>>;

  virtual ~Steps() = default;
  // The first call is the initial state, a step by the rule "start". May throw EnoughSteps, which ends the evaluation.
  virtual void step(const RuleStep& step, const std::function<Cells()>& cells) = 0;
};

// Whoever watches has seen what he wanted to.
struct EnoughSteps {};

}  // namespace tutti
