#include "deploy/reins.h"

#include <algorithm>
#include <chrono>

#include "base/quiet_thread.h"

namespace tutti::deploy {

Reins::Reins(store::Store& store, const store::Lease& lease, engine::Runner& runner, std::function<void()> wake,
             std::function<void()> halt)
    : runner_(runner), wake_(std::move(wake)), halt_(std::move(halt)), heart_(quiet_thread([this, &store, lease] {
        std::unique_lock lock(mutex_);
        auto period = std::chrono::duration<double>(std::max(0.2, lease.seconds / 3));
        while (!stop_.wait_for(lock, period, [&] { return done_; })) {
          lock.unlock();
          auto r = store.renew(lease);
          if (!r && r.error().code == store::kFenced) return lost(r.error());
          lock.lock();
        }
      })) {}

Reins::~Reins() {
  {
    std::lock_guard lock(mutex_);
    done_ = true;
  }
  stop_.notify_all();
  heart_.join();
}

void Reins::stop(bool now) {
  now ? runner_.cancel() : runner_.drain();
  wake_();
}

void Reins::lost(const Failure& why) {
  {
    std::lock_guard lock(mutex_);
    if (!why_) why_ = why.message;
  }
  runner_.cancel();
  if (halt_) halt_();
  wake_();
}

std::optional<std::string> Reins::lost() const {
  std::lock_guard lock(mutex_);
  return why_;
}

}  // namespace tutti::deploy
