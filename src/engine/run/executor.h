#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/system.h"

// The engine's effects. The scheduler decides and never acts; a Runner asks an Executor to act and tells the scheduler
// what came of it. Tests and simulations put a virtual clock behind the same interface.
namespace tutti::engine {

using Outputs = std::vector<std::pair<std::string, std::string>>;

// A request to run the action of a transition. Good only during the call.
struct ActionRequest {
  u32 instance = 0;
  u32 transition = 0;
  u32 attempt = 0;  // 0 is the first try
  const model::System* system = nullptr;
  const model::Action* action = nullptr;
  Symbol host;                      // empty: this machine
  double timeout = 0;               // seconds, 0: none
  const Outputs* inputs = nullptr;  // data of the used ports: "port.key" -> value
  bool in_flight = false;           // a run that died had started it: whether it is done is to be looked at first
};

enum class How : u8 { kOk, kFailed, kTimeout, kCancelled, kLost };  // lost: nobody can tell what became of it
std::string_view how_word(How how);

struct ActionResult {
  u32 instance = 0;
  u32 transition = 0;
  u32 attempt = 0;
  How how = How::kOk;
  int code = 0;                   // exit code, or 128 + signal
  std::string outcome;            // which destination of a switch; empty: the first
  std::string message;            // why it failed
  Outputs outputs;                // what the action gave as data
  std::string log;                // the end of what it printed
  double started = 0, ended = 0;  // on the executor's clock
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Seconds since the executor was made, real or simulated.
  virtual double now() const = 0;
  // Begins an action; never waits for it. A start that is impossible gives a failed result later, not an exception.
  // Every action that is begun gets exactly one result, whatever happens: whoever began it waits for that.
  virtual void start(const ActionRequest& request) = 0;
  // How many actions of a host may be under way at once, as things stand; 0: no limit. It may rise while they run.
  virtual u32 most_on(Symbol host) const {
    (void)host;
    return 0;
  }
  // Asks a running action to stop; its result comes as kCancelled.
  virtual void cancel(u32 instance, u32 transition) = 0;
  // Appends the results that are there; when there are none, waits for one until the time `until` (on now()'s clock;
  // infinity: for ever). Returns at once when nothing runs and `until` has passed.
  virtual void wait(std::vector<ActionResult>& results, double until) = 0;
  // Ends every action and everything it started, when a run is given up. Actions that have no result yet get one
  // (kCancelled), also those that wait for their turn and those that are begun from now on.
  virtual void stop_all() = 0;
  // Makes wait() return early. Safe from other threads; an executor that never waits has nothing to do.
  virtual void wake() {}
};

}  // namespace tutti::engine
