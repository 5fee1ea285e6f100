#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "deploy/running/clock.h"
#include "engine/run/runner.h"
#include "store/store.h"

namespace tutti::deploy {

// What ends a run from outside: the user, a lease that was lost, a journal that cannot be written. Keeps the lease
// alive while it exists; a lease that is over and cannot be renewed is lost, whether somebody else has taken it or not.
class RunControl {
 public:
  // `wake` makes the executor's wait() return; `halt`, where the executor allows it from any thread, ends what runs.
  RunControl(store::Store& store, const store::Lease& lease, const Clock& clock, engine::Runner& runner,
             std::function<void()> wake, std::function<void()> halt = {});
  ~RunControl();
  RunControl(const RunControl&) = delete;
  RunControl& operator=(const RunControl&) = delete;

  void stop(bool now);            // what runs comes to its end, or with `now` is ended
  void lost(const Failure& why);  // nothing can be written down any more
  std::optional<std::string> lost() const;

 private:
  void keep_alive(store::Store& store, const store::Lease& lease);
  const Clock& clock_;
  engine::Runner& runner_;
  std::function<void()> wake_, halt_;
  mutable std::mutex mutex_;
  std::optional<std::string> why_;
  std::condition_variable stop_;
  bool done_ = false;
  std::thread heart_;
};

// While a run goes on the user can end it; afterwards nobody may reach for what is gone.
class StopHere {
 public:
  using OnStop = std::function<void(std::function<void(bool now)> stop)>;
  StopHere(OnStop on_stop, RunControl& control) : on_stop_(std::move(on_stop)) {
    if (on_stop_) on_stop_([&control](bool now) { control.stop(now); });
  }
  ~StopHere() {
    if (on_stop_) on_stop_({});
  }
  StopHere(const StopHere&) = delete;
  StopHere& operator=(const StopHere&) = delete;

 private:
  OnStop on_stop_;
};

}  // namespace tutti::deploy
