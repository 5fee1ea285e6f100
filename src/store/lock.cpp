// What people are told of a lock: who holds a system, and for how long yet. Decisions are the store's, and go by no
// clock.
#include <fmt/format.h>

#include <algorithm>

#include "store/store.h"

namespace tutti::store {

bool held(const LockInfo& info, double now) { return life_of(info.holder) != Life::kGone && now < info.expires; }

std::string describe(const LockInfo& info, double now) {
  auto span = [](double s) { return s < 120 ? fmt::format("{:.0f} s", s) : fmt::format("{:.0f} min", s / 60); };
  bool unseen = life_of(info.holder) == Life::kUnknown;
  return fmt::format("`{}` of {}@{}, process {}{}, since {}; its lease ends in {}", info.holder.command,
                     info.holder.user, info.holder.host, info.holder.pid,
                     unseen ? " (whether it lives cannot be seen from here)" : "", span(now - info.since),
                     span(std::max(0.0, info.expires - now)));
}

}  // namespace tutti::store
