#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/run/executor.h"
#include "engine/run/journal.h"
#include "engine/run/scheduler.h"

namespace tutti::engine {

struct RunOptions {
  u32 parallel = 0;  // actions at once, 0: no limit
  u32 parallel_per_host = 0;
  u32 parallel_per_instance = 0;
  OnFailure on_failure = OnFailure::kStop;
  double grace = 10;  // seconds a cancelled action has before it is killed (used by executors)
};

// Told what a run does, as it does it: progress, traces, events.
class RunListener {
 public:
  virtual ~RunListener() = default;
  virtual void step(double, const Step&) {}
  virtual void started(double, const ActionRequest&) {}
  virtual void ended(double, const ActionResult&, bool will_retry) { (void)will_retry; }
  virtual void idle(double now, const Scheduler&) { (void)now; }  // about to wait for an action
};

// One action as it went, last attempt.
struct ActionSpan {
  u32 instance = 0, transition = 0, attempts = 1, outcome = 0;
  How how = How::kOk;
  double ready = 0;  // when the rules allowed it
  double start = 0, end = 0;
  int code = 0;
  std::string message, log;
};

struct RunReport {
  bool finished = false;  // program at its end and every queue empty
  bool cancelled = false;
  double total = 0;        // when the last thing happened
  double program_end = 0;  // when the last instruction was done
  u32 pc = 0;
  u64 steps = 0;
  std::vector<ActionSpan> actions;  // in order of their ends
  std::vector<u32> failed;          // instances with a failed token
  std::vector<std::string> stuck;   // when not finished: who waits for what
};

// Joins the scheduler, an executor and a journal. `run` returns when the program is done and all behaviours are, or
// when nothing can happen any more.
class Runner {
 public:
  Runner(const model::System& system, Executor& executor, const RunOptions& options = {}, Journal* journal = nullptr,
         RunListener* listener = nullptr);
  ~Runner();

  RunReport run();
  // Goes on from what an earlier run left: the recorded results are taken as they were, in order; what was started and
  // never ended is started again if it is idempotent or has a check (which is then asked first), else it counts as
  // lost. What had failed for good goes on where the record says so (F6).
  RunReport resume(const JournalRecord& record);
  // Goes exactly these steps, without executor: each takes one unit of time. Ends at the first that the scheduler does
  // not allow; report.steps says how many it did.
  RunReport replay(std::span<const Step> steps);
  // From another thread or a signal handler: start nothing more, let what runs come to its end.
  void drain();
  // The same, but cancel what runs.
  void cancel();

  const Scheduler& scheduler() const;
  // Outputs of an instance's actions so far, "key" -> value, last one wins.
  const Outputs& outputs(u32 instance) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tutti::engine
