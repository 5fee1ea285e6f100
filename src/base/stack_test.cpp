#include "base/stack.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/budget.h"
#include "base/own_stack.h"

namespace tutti {
namespace {

// How deep a recursion gets before the limits end it.
std::size_t depth_reached() {
  Budget budget(Limits{.depth = 100'000});
  std::size_t reached = 0;
  auto go = [&](auto& self) -> void {
    Budget::Level level(budget);
    volatile char used[1000];
    used[0] = 0;
    reached++;
    if (reached < 1'000'000) self(self);
    reached += used[0];
  };
  try {
    go(go);
  } catch (const LimitError&) {
  }
  return reached;
}

TEST(Stack, OneOfOursIsUsedUpToItsFloorAndTheOldOneAgainAfterwards) {
  char here = 0;
  const char* before = stack_floor();
  EXPECT_LT(before, &here);
  std::size_t on_large = 0, on_small = 0;
  const char* inside = nullptr;
  ASSERT_TRUE(on_stack_of(std::size_t{256} << 20, [&] {
    char there = 0;
    inside = stack_floor();
    EXPECT_LT(inside, &there);
    on_large = depth_reached();
  }));
  ASSERT_TRUE(on_stack_of(std::size_t{1} << 20, [&] { on_small = depth_reached(); }));
  EXPECT_EQ(on_large, 100'000u);
  EXPECT_LT(on_small, 2'000u);
  EXPECT_GT(on_small, 100u);
  EXPECT_NE(inside, before);
  EXPECT_EQ(stack_floor(), before);
}

TEST(Stack, OneThatTheSystemDoesNotGiveRunsNothing) {
  bool run = false;
  EXPECT_FALSE(on_stack_of(std::size_t{1} << 60, [&] { run = true; }));
  EXPECT_FALSE(run);
}

}  // namespace
}  // namespace tutti
