#include "deploy/recording/naming.h"

#include <gtest/gtest.h>

namespace tutti::deploy {
namespace {

using Names = std::vector<std::string>;

Names named(NameClaim old_one, NameClaim new_one) {
  return names_after({{"db", "db", true, old_one}, {"db", "db#2", true, new_one}});
}

TEST(Naming, OneThatIsAloneHasItsComponentsName) { EXPECT_EQ(names_after({{"db", "db#3"}}), Names{"db"}); }

TEST(Naming, WhatIsGoneHasNone) { EXPECT_EQ(names_after({{"db", "db", false}, {"db", "db#2"}}), (Names{"", "db"})); }

TEST(Naming, TheNewOneHasTheNameOnceItIsThere) {
  EXPECT_EQ(named(NameClaim::kUntouched, NameClaim::kIsThere), (Names{"db~db", "db"}));
  EXPECT_EQ(named(NameClaim::kGoing, NameClaim::kIsThere), (Names{"db~db", "db"}));
}

TEST(Naming, UntilThenTheOldOneKeepsItAsLongAsItStandsAsItStood) {
  EXPECT_EQ(named(NameClaim::kUntouched, NameClaim::kUnderWay), (Names{"db", "db~db#2"}));
}

TEST(Naming, AnOldOneThatIsGoingGivesItToWhoComes) {
  EXPECT_EQ(named(NameClaim::kGoing, NameClaim::kUnderWay), (Names{"db~db", "db"}));
}

}  // namespace
}  // namespace tutti::deploy
