// The implementations against each other, on random systems: the scheduler's runs are paths of the rules that end where
// the rules end; the simulated time is the estimate. The searches are compared in search_test.cpp.
#include <gtest/gtest.h>

#include "engine/estimate/estimate.h"
#include "engine/run/simulate.h"
#include "engine/testing/campaign.h"
#include "engine/testing/random_system.h"
#include "engine/verify/verify.h"

namespace tutti::engine {
namespace {

class Checker : public RunListener {
 public:
  explicit Checker(const model::System& system) : system_(system), rules_(system), state_(rules_.initial()) {}
  void step(double, const Step& s) override {
    if (!ok_) return;
    if (!rules_.is_enabled(state_.data(), s)) {
      ok_ = false;
      ADD_FAILURE() << "not allowed: " << step_text(system_, s) << "\n" << text_of(system_);
      return;
    }
    rules_.apply(state_.data(), s);
  }
  bool ok() const { return ok_; }
  void compare(const Scheduler& scheduler) {
    std::vector<Step> left;
    rules_.enabled(state_.data(), left);
    EXPECT_TRUE(left.empty()) << "still possible: " << (left.empty() ? "" : step_text(system_, left[0])) << "\n"
                              << text_of(system_);
    for (u32 i = 0; i < system_.instances.size(); ++i) {
      if (!scheduler.present(i)) continue;
      for (u32 e = 0; e < system_.type_of(i).elements; ++e)
        ASSERT_EQ(scheduler.marked(i, e), rules_.marked(state_.data(), i, e)) << text_of(system_);
    }
    EXPECT_EQ(scheduler.finished(), rules_.is_final(state_.data()));
  }

 private:
  const model::System& system_;
  Rules rules_;
  Rules::State state_;
  bool ok_ = true;
};

TEST(Agree, SchedulerFollowsTheRulesToTheEnd) {
  for (u64 seed = first_seed(), n = seed + rounds(3000); seed < n && !::testing::Test::HasFailure(); ++seed) {
    RandomSystemOptions shape = RandomSystemOptions::wide();
    if (seed % 2) shape = {3, 4, 5, 3, 8, true, true, seed % 3 == 0};
    model::System system = RandomSystem(seed, shape).make();
    Checker checker(system);
    std::mt19937_64 dice(seed);
    SimulatedExecutor executor([&](const ActionRequest& r) {
      const auto& t = system.type_of(r.instance);
      auto outcomes = t.outcomes_of(t.transitions[r.transition]);
      return SimulatedExecutor::Fate{static_cast<double>(dice() % 5), How::kOk,
                                     std::string(outcomes[dice() % outcomes.size()].name.text())};
    });
    RunOptions options;
    if (dice() % 3 == 0) options.parallel = 1 + static_cast<u32>(dice() % 2);
    Runner runner(system, executor, options, nullptr, &checker);
    runner.run();
    if (checker.ok()) checker.compare(runner.scheduler());
    EXPECT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
}

TEST(Agree, EstimateIsTheSimulatedTime) {
  Tally made("estimates");
  for (u64 seed = first_seed(), n = seed + rounds(3000); seed < n && !::testing::Test::HasFailure(); ++seed) {
    RandomSystemOptions shape{2, 3, 5, 2, 5, false, true, seed % 3 == 0, seed % 2 ? 1u : 3u, seed % 2 == 0};
    model::System system = RandomSystem(seed, shape).make();
    made.made();
    Graph graph(system);
    if (!graph.assumptions().empty() || !graph.stuck().empty() || !graph.acyclic()) continue;
    VerifyReport v = verify(system, {}, {});
    if (!v.complete || !v.deadlock_free || !v.one_safe) continue;
    Estimate e = estimate(graph);
    made.count("exact");
    EXPECT_TRUE(e.finishes);
    EXPECT_EQ(e.graph_total, e.total) << "seed " << seed << "\n" << text_of(system);
  }
  EXPECT_GT(made.share("exact"), 10);
}

}  // namespace
}  // namespace tutti::engine
