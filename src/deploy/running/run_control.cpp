#include "deploy/running/run_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/quiet_thread.h"

namespace tutti::deploy {

RunControl::RunControl(store::Store& store, const store::Lease& lease, const Clock& clock, engine::Runner& runner,
                       std::function<void()> wake, std::function<void()> halt)
    : clock_(clock),
      runner_(runner),
      wake_(std::move(wake)),
      halt_(std::move(halt)),
      heart_(quiet_thread([this, &store, lease] { keep_alive(store, lease); })) {}

void RunControl::keep_alive(store::Store& store, const store::Lease& lease) {
  double over = lease.taken + lease.seconds, often = lease.seconds / 3, soon = lease.seconds / 20;
  std::chrono::duration<double> next(often);
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, next, [&] { return done_; })) {
    lock.unlock();
    double asked = clock_.sleepless();
    auto renewed = store.renew(lease);
    if (renewed) over = asked + lease.seconds;
    if (!renewed && renewed.error().code == store::kFenced) return lost(renewed.error());
    if (!renewed && clock_.sleepless() >= over)
      return lost(
          {fmt::format("the lease on {} is over and cannot be renewed: {}", lease.system, renewed.error().message),
           store::kFenced});
    next = std::chrono::duration<double>(renewed ? often : soon);
    lock.lock();
  }
}

RunControl::~RunControl() {
  {
    std::lock_guard lock(mutex_);
    done_ = true;
  }
  stop_.notify_all();
  heart_.join();
}

void RunControl::stop(bool now) {
  now ? runner_.cancel() : runner_.drain();
  wake_();
}

void RunControl::lost(const Failure& why) {
  {
    std::lock_guard lock(mutex_);
    if (!why_) why_ = why.message;
  }
  runner_.cancel();
  if (halt_) halt_();
  wake_();
}

std::optional<std::string> RunControl::lost() const {
  std::lock_guard lock(mutex_);
  return why_;
}

}  // namespace tutti::deploy
