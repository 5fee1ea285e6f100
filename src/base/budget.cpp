#include "base/budget.h"

#include <fmt/format.h>

#include "base/limit_place.h"

namespace tutti {

Budget::Budget(const Limits& limits) : limits_(limits) {
  if (limits.time.count() > 0) deadline_ = std::chrono::steady_clock::now() + limits.time;
}

void Budget::look() {
  next_look_ = steps_ + 4096;
  if (steps_ > limits_.steps) {
    throw LimitError("LIMIT-STEPS", fmt::format("evaluation took more than {} steps (--limit steps=N)", limits_.steps),
                     limit_place());
  }
  if (stop_.load(std::memory_order_relaxed)) throw LimitError("LIMIT-STOPPED", "stopped");
  if (limits_.time.count() > 0 && std::chrono::steady_clock::now() > deadline_) {
    throw LimitError("LIMIT-TIME", fmt::format("took longer than {} ms (--limit time=MS)", limits_.time.count()),
                     limit_place());
  }
}

void Budget::too_deep(u32 at) const {
  throw LimitError("LIMIT-DEPTH", fmt::format("nested deeper than {} levels (--limit depth=N)", limits_.depth), at);
}

void Budget::too_many_nodes() {
  throw LimitError("LIMIT-NODES", fmt::format("more than {} values (--limit nodes=N)", limits_.nodes), limit_place());
}

}  // namespace tutti
