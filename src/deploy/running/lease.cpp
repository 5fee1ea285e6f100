// Taking a system, so that nobody else acts on it: what flows in is who asks and how long they wait, what flows out a
// lease, or who holds it. Whoever seems to be gone, and cannot be seen, is watched for as long as their lease lasts;
// going by the time at which it was to end was rejected, because nobody knows whose clock is right.
#include <fmt/format.h>

#include <algorithm>

#include "deploy/running/running.h"

namespace tutti::deploy {

// The lock of somebody who is seen to live is not broken: they can be ended first.
Result<void> Running::break_lock(const std::string& system, const RunSettings& settings) {
  auto lock = effects_.store.lock(system);
  if (!lock) return tl::unexpected(lock.error());
  if (*lock && store::life_of((*lock)->holder) == store::Life::kAlive)
    return failure(fmt::format("{} is in use by {}, which lives: end it first (kill {})", system,
                               store::describe(**lock, effects_.clock.wall()), (*lock)->holder.pid),
                   store::kHeld);
  auto broken = effects_.store.break_lock(system);
  if (!broken) return tl::unexpected(broken.error());
  if (*broken)
    settings.tell(
        fmt::format("the lock on {} of {} is broken", system, store::describe(**broken, effects_.clock.wall())));
  return {};
}

constexpr double kLongestWatch = 300;  // seconds: nobody waits for more without having said so

Result<store::Lease> Running::hold(const std::string& system, const RunSettings& settings) {
  store::Store& store = effects_.store;
  const Clock& clock = effects_.clock;
  if (auto damage = store.damage(); !damage.empty()) return failure(damage, store::kDamaged);
  if (settings.break_lock)
    if (auto r = break_lock(system, settings); !r) return tl::unexpected(r.error());
  store::Holder me = store::this_process(settings.command);
  double until = clock.waking() + settings.wait_for_lock;
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
    bool watch = silent && clock.wall() >= info.expires && info.seconds <= kLongestWatch;
    if (!watch && clock.waking() >= until) return lease;
    if (watch && !watched)
      settings.tell(
          fmt::format("waits {:.0f} s for a sign of life of {}", info.seconds, store::describe(info, clock.wall())));
    if (!watched) watched = info;
    clock.sleep(std::clamp(info.seconds / 20, 0.02, 0.2));
  }
}

}  // namespace tutti::deploy
