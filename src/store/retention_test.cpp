#include "store/retention.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti::store {
namespace {

constexpr double kDay = 86400, kNow = 1000 * kDay;

// The newest first, each a day older than the one before.
std::vector<RunRecord> daily(std::size_t count) {
  std::vector<RunRecord> out;
  for (std::size_t i = 0; i < count; ++i) {
    RunRecord r;
    r.id = static_cast<i64>(count - i);
    r.status = "done";
    r.ended = kNow - static_cast<double>(i) * kDay;
    out.push_back(r);
  }
  return out;
}

TEST(Retention, TheNewestRunsAreKeptHoweverOld) {
  auto runs = daily(50);
  EXPECT_TRUE(to_prune(runs, {.always = 50, .days = 0}, kNow + 900 * kDay).empty());
  EXPECT_EQ(to_prune(runs, {.always = 49, .days = 0}, kNow + 900 * kDay), std::vector<i64>{1});
}

TEST(Retention, WhatIsYoungIsKeptToo) {
  auto gone = to_prune(daily(50), {.always = 10, .days = 30}, kNow);
  EXPECT_EQ(gone.size(), 20u);
  EXPECT_EQ(gone.front(), 20);
}

TEST(Retention, ButNeverMoreThanSoMany) {
  auto gone = to_prune(daily(50), {.always = 10, .days = 900, .most = 25}, kNow);
  EXPECT_EQ(gone.size(), 25u);
}

TEST(Retention, WhatHasNotEndedIsKept) {
  auto runs = daily(5);
  runs.back().status = "running";
  auto gone = to_prune(runs, {.always = 1, .days = 0, .most = 0}, kNow);
  EXPECT_EQ(gone, (std::vector<i64>{4, 3, 2}));
}

}  // namespace
}  // namespace tutti::store
