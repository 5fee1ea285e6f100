#pragma once

#include <functional>
#include <memory>
#include <queue>

#include "engine/run/executor.h"

namespace tutti::engine {

// An executor whose actions only take time, and whose clock jumps to the next end: a run with given durations takes
// none.
class SimulatedExecutor : public Executor {
 public:
  // How long an action takes and how it ends; by default its expected duration, well, with the first outcome.
  struct Fate {
    double duration = 0;
    How how = How::kOk;
    std::string outcome;
  };
  using Oracle = std::function<Fate(const ActionRequest&)>;

  using Limits = std::function<u32(Symbol host)>;  // how many at once on a host; 0: any number

  explicit SimulatedExecutor(Oracle oracle = {}, Limits limits = {})
      : oracle_(std::move(oracle)), limits_(std::move(limits)) {}

  u32 most_on(Symbol host) const override { return limits_ ? limits_(host) : 0; }
  double now() const override { return now_; }
  void start(const ActionRequest& request) override;
  void cancel(u32 instance, u32 transition) override;
  void wait(std::vector<ActionResult>& results, double until) override;
  void stop_all() override { running_ = {}; }

 private:
  struct Running {
    double end, start;
    u64 order;
    u32 instance, transition, attempt, fate;  // kNone_, or in fates_
    bool operator<(const Running& o) const { return end != o.end ? end > o.end : order > o.order; }
  };
  static constexpr u32 kNone_ = ~u32{0};
  Oracle oracle_;
  Limits limits_;
  double now_ = 0;
  u64 order_ = 0;
  std::priority_queue<Running> running_;
  std::vector<Fate> fates_;
};

}  // namespace tutti::engine
