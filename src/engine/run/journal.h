#pragma once

#include <span>

#include "engine/rules/step.h"
#include "engine/run/executor.h"

namespace tutti::engine {

// Where a run is written down, so that it can go on after a crash. `starting` must be durable when it returns: an
// action runs only after its intent is on disk; requests that become possible together come together, for one commit.
// Steps need not be durable before the next `starting` or `settle`: they follow from the results.
class Journal {
 public:
  virtual ~Journal() = default;
  virtual void step(double time, const Step& step) = 0;
  // False when it could not be written down: none of these actions may start.
  virtual bool starting(double time, std::span<const ActionRequest> requests) = 0;
  // Durable with the next `starting` or `settle`, whichever comes first: what ended and what starts because of it are
  // one commit.
  virtual void ended(double time, std::span<const ActionResult> results) = 0;
  virtual void settle() {}
};

// What was on disk when a run was taken up again: the results in their order, and the starts without a result.
struct JournalRecord {
  std::vector<ActionResult> results;
  struct Started {
    u32 instance = 0, transition = 0, attempt = 0;
    ActionResult ended_well() const {
      ActionResult r;
      r.instance = instance, r.transition = transition, r.attempt = attempt;
      return r;
    }
  };
  std::vector<Started> open;
  std::vector<Started> again;  // what failed for good and is to be started again (F6)
};

}  // namespace tutti::engine
