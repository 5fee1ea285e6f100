#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/rules/step.h"

namespace tutti::engine {

// What happens to those that wait for an instance that failed (F5).
enum class OnFailure : u8 {
  kStop,      // wait, wait_all, dcon and del on it end the program: pc stays, everything independent goes on
  kContinue,  // they count as done for a failed instance
};

class StepListener {
 public:
  virtual ~StepListener() = default;
  virtual void step(const Step& step) = 0;
};

// The rules run as early as possible, event by event, without effects: the pure half of the engine. Whoever owns it
// starts the actions it asks for and tells it how they ended; each call does everything that became possible and
// nothing else. No polling: whatever is blocked sits in the list of the one thing it waits for.
class Scheduler {
 public:
  struct Start {
    u32 instance = 0, transition = 0;
  };

  explicit Scheduler(const model::System& system, OnFailure on_failure = OnFailure::kStop,
                     StepListener* listener = nullptr);
  ~Scheduler();

  void begin();
  // The action of a running transition ended with this outcome (R2); then all that follows at once.
  void ended(u32 instance, u32 transition, u32 outcome);
  // It failed for good and has no outcome for that: a failed token (F4).
  void failed(u32 instance, u32 transition);

  // Exactly this step and nothing that follows from it, if it can be done now; whether it could. For going an order of
  // events that the scheduler would not choose by itself, as in a counterexample.
  bool perform(const Step& step);

  // Recovery: start a failed action again, or declare that it ended (F6).
  void retry(u32 instance, u32 transition);
  void skip(u32 instance, u32 transition, u32 outcome);

  // Actions to start since the last call, in the order they became possible. Valid until the next call of any member.
  std::span<const Start> starts();

  // Program at its end and nothing left to do (R13).
  bool finished() const;
  // Nothing runs and nothing can happen: final, or stuck.
  bool quiet() const;
  u32 pc() const;
  u32 running() const;  // actions started and not ended
  u64 steps() const;
  u32 merged() const;    // tokens that met another in one place: the net is not 1-safe
  bool stopped() const;  // the program gave up at pc because of a failure
  std::size_t bytes() const;

  // What is where.
  bool present(u32 instance) const;
  bool idle(u32 instance) const;  // its queue is empty
  bool has_failed(u32 instance) const;
  std::span<const std::pair<u32, u32>> failures() const;  // (instance, transition) of the failed tokens
  u32 behaviours_finished(u32 instance) const;
  bool marked(u32 instance, u32 element) const;
  std::vector<u32> marking(u32 instance) const;  // elements
  std::vector<u32> queue(u32 instance) const;    // behaviours, the current one first
  bool port_active(u32 instance, u32 port) const;
  std::vector<model::Link> links() const;
  bool link_of(u32 instance, u32 use, u32& provider, u32& provide) const;

  // Why an instance (or the program, kNone) does not go on, one line a reason; empty when it could.
  std::vector<std::string> why_blocked(u32 instance) const;

 private:
  void heal(u32 instance);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tutti::engine
