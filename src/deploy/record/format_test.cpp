#include "deploy/record/format.h"

#include <gtest/gtest.h>

namespace tutti::deploy {
namespace {

class Formats : public ::testing::Test {
 protected:
  Value map(std::initializer_list<std::pair<const char*, Value>> entries) {
    std::vector<Entry> all;
    for (auto& [key, value] : entries) all.push_back({Symbol(key), Field::kPlain, value});
    return b.map(all);
  }
  Session session;
  TreeBuilder b{session.arena};
};

TEST_F(Formats, WhatIsWrittenComesBackAsItWas) {
  Value plan = map({{"types", map({})}, {"only", Value::string("web")}});
  Value stored = with_format(plan, b);
  EXPECT_EQ(stored.entries()[0].key.text(), "$format");
  auto again = without_format(session, "a plan", stored);
  ASSERT_TRUE(again);
  EXPECT_TRUE(equal(*again, plan));
}

TEST_F(Formats, WhatWasWrittenBeforeThereWereVersionsIsRead) {
  Value plan = map({{"types", map({})}});
  auto again = without_format(session, "a plan", plan);
  ASSERT_TRUE(again);
  EXPECT_TRUE(equal(*again, plan));
}

TEST_F(Formats, WhatANewerOneWroteIsRefused) {
  EXPECT_FALSE(without_format(session, "a plan", map({{"$format", Value::integer(kStoredFormat + 1)}})));
  EXPECT_FALSE(is_readable_state(session, "a state", map({{"format", Value::integer(99)}})));
  EXPECT_EQ(session.diagnostics.errors(), 2u);
}

TEST_F(Formats, AStateThatIsNotThereYetIsReadable) { EXPECT_TRUE(is_readable_state(session, "a state", map({}))); }

}  // namespace
}  // namespace tutti::deploy
