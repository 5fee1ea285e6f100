// Whoever follows one run asks only those instances that may have a step (Awake in verify/reduce.h): on random systems
// the answer must be the one that asking all of them gives, at every state of a run. And nobody may stay awake for
// nothing, which is what made a chain of n cost the square of n.
#include <gtest/gtest.h>

#include <random>

#include "engine/testing/campaign.h"
#include "engine/testing/random_system.h"
#include "engine/verify/reduce.h"

namespace tutti::engine {
namespace {

TEST(Awake, GivesTheSameStepsAsAskingEverybody) {
  Tally tally("runs with and without sleepers");
  for (u64 seed = first_seed(), n = seed + rounds(2000); seed < n && !::testing::Test::HasFailure(); ++seed) {
    RandomSystemOptions shape = seed % 2 ? RandomSystemOptions::wide() : RandomSystemOptions{};
    model::System system = RandomSystem(seed, shape).make();
    tally.made();
    Rules rules(system, {true, static_cast<u32>(seed % 3 == 0)});
    const std::vector<Property> none;
    Reduction reduction(rules, none);
    Awake awake(rules);
    Rules::State s = rules.initial();
    std::mt19937_64 dice(seed);
    std::vector<Step> all, some;
    u32 hint = 0;
    for (int k = 0; k < 200; ++k) {
      all.clear(), some.clear();
      reduction.steps(s.data(), hint, all);
      reduction.steps(s.data(), hint, some, &awake);
      ASSERT_EQ(all, some) << "seed " << seed << ", after " << k << " steps\n" << text_of(system);
      if (all.empty()) break;
      tally.count("steps");
      tally.count("with sleepers", awake.all().size() < system.instances.size());
      const Step step = all[dice() % all.size()];  // also where there are several, which a run of one way never meets
      rules.apply(s.data(), step);
      awake.after(step);
      if (step.instance != kNone) hint = step.instance;
    }
  }
  EXPECT_GT(tally.of("with sleepers"), tally.of("steps") / 4);
}

// Components that do nothing yet, one linked with the next: a push wakes its instance and whom it is linked with.
TEST(Awake, AChainIsNotAskedFromEndToEnd) {
  constexpr u32 kLength = 500;
  model::System system = RandomSystem(1, {}).make();
  const u32 type = system.instances[0].type;
  system.instances.assign(kLength, system.instances[0]);
  system.links.clear();
  system.program.clear();
  for (u32 i = 0; i < kLength; ++i) {
    system.instances[i].type = type;
    system.instances[i].marking = {0};
    system.instances[i].present = true;
    system.instances[i].name = Symbol(fmt::format("c{}", i));
  }
  system.assembly = kLength;
  Rules rules(system);
  const std::vector<Property> none;
  Reduction reduction(rules, none);
  Awake awake(rules);
  EXPECT_EQ(awake.all().size(), kLength);
  Rules::State s = rules.initial();
  std::vector<Step> steps;
  reduction.steps(s.data(), 0, steps, &awake);
  EXPECT_TRUE(steps.empty());
  EXPECT_TRUE(awake.all().empty());  // nothing was pushed: all sleep, and the next step need not ask them
  awake.after({Step::Kind::kFire, 7, 0, 0});
  EXPECT_EQ(awake.all(), std::set<u32>{7});
}

}  // namespace
}  // namespace tutti::engine
