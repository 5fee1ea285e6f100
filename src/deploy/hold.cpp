// Taking a system, so that nobody else acts on it: what flows in is who asks and how long they wait, what flows out a
// lease, or who holds it. Whoever seems to be gone, and cannot be seen, is watched for as long as their lease lasts;
// going by the time at which it was to end was rejected, because nobody knows whose clock is right.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "deploy/deployer.h"

namespace tutti::deploy {

// The lock of somebody who is seen to live is not broken: they can be ended first.
Result<void> Deployer::break_lock(const std::string& system, const RunSettings& settings) {
  auto lock = place_.store->lock(system);
  if (!lock) return tl::unexpected(lock.error());
  if (*lock && store::life_of((*lock)->holder) == store::Life::kAlive)
    return failure(fmt::format("{} is in use by {}, which lives: end it first (kill {})", system,
                               store::describe(**lock, store::wall_clock()), (*lock)->holder.pid),
                   store::kHeld);
  auto broken = place_.store->break_lock(system);
  if (!broken) return tl::unexpected(broken.error());
  if (*broken && settings.events.line)
    settings.events.line(
        0, fmt::format("the lock on {} of {} is broken", system, store::describe(**broken, store::wall_clock())));
  return {};
}

constexpr double kLongestWatch = 300;  // seconds: nobody waits for more without having said so

Result<store::Lease> Deployer::hold(const std::string& system, const RunSettings& settings) {
  store::Store& store = *place_.store;
  if (auto damage = store.damage(); !damage.empty()) return failure(damage, store::kDamaged);
  if (settings.break_lock)
    if (auto r = break_lock(system, settings); !r) return tl::unexpected(r.error());
  store::Holder me = store::this_process(settings.command);
  double until = store::waking_clock() + settings.wait_for_lock;
  std::optional<store::LockInfo> watched;
  for (;;) {
    auto lease = store.acquire(system, me, settings.lease);
    if (lease || lease.error().code != store::kHeld) return lease;
    auto lock = store.lock(system);
    if (!lock || !*lock) continue;
    const store::LockInfo& info = **lock;
    // One whose lease is over by the clock has probably gone: it is watched for as long as its lease lasts, or until it
    // gives a sign of life.
    bool silent = !watched || (watched->fence == info.fence && watched->beat == info.beat);
    bool watch = silent && store::wall_clock() >= info.expires && info.seconds <= kLongestWatch;
    if (!watch && store::waking_clock() >= until) return lease;
    if (watch && !watched && settings.events.line)
      settings.events.line(0, fmt::format("waits {:.0f} s for a sign of life of {}", info.seconds,
                                          store::describe(info, store::wall_clock())));
    if (!watched) watched = info;
    std::this_thread::sleep_for(std::chrono::duration<double>(std::clamp(info.seconds / 20, 0.02, 0.2)));
  }
}

}  // namespace tutti::deploy
