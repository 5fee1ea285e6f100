// What a plan says of how long it takes: under the limits that its run will have, and nothing where nothing is known.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "deploy/testing.h"
#include "format/yaml.h"

namespace tutti::deploy {
namespace {

class Estimates : public InFolder {
 protected:
  // Of a system of so many services that need nobody.
  Check check(u32 many, u32 parallel = 0) {
    OneCall c(dir);
    std::string text = "system: s\ncomponents:\n";
    for (u32 i = 0; i < many; ++i)
      text += fmt::format("  c{}: {{type: command, config: {{start: 'true', stop: 'true'}}}}\n", i);
    auto source = c.session.sources->add("system.yaml", text);
    auto p = c.deployer->prepare(*read_yaml(c.session, **source), "", "apply", {});
    EXPECT_TRUE(p) << c.trouble();
    return p ? c.deployer->check(*p, kMostStates, parallel) : Check{};
  }
  void learn(const std::string& key, const std::vector<double>& seconds) {
    OneCall c(dir);
    for (double s : seconds) ASSERT_TRUE(c.record->store->learn(std::vector{std::pair<std::string, double>{key, s}}));
  }
};

TEST_F(Estimates, NothingIsSaidOfWhatNobodyKnows) {
  Check c = check(3);
  EXPECT_EQ(c.timed, 0u);
  EXPECT_EQ(c.untimed, 3u);
  learn("c1/start", {2});
  c = check(3);
  EXPECT_EQ(c.timed, 1u);
  EXPECT_EQ(c.untimed, 2u);
  EXPECT_EQ(c.total, 2);
}

TEST_F(Estimates, OthersOfTheTypeTellOnlyWhereTheyAreMuchTheSame) {
  learn("command:start", {1, 9, 2, 30});
  EXPECT_EQ(check(2).untimed, 2u);
  learn("command:start", std::vector<double>(200, 4.0));
  EXPECT_EQ(check(2).untimed, 0u);
}

TEST_F(Estimates, NoMoreRunAtOnceThanTheRunWillHave) {
  for (int i = 0; i < 12; ++i) learn(fmt::format("c{}/start", i), {1});
  for (auto [parallel, seconds] : {std::pair{1u, 12.0}, {2u, 6.0}, {4u, 3.0}, {5u, 3.0}}) {
    Check c = check(12, parallel);
    EXPECT_EQ(c.total, seconds) << parallel;
    EXPECT_TRUE(c.limited);
  }
  u32 here = resource::workers(0);
  EXPECT_EQ(check(12).total, (12 + here - 1) / here);
}

}  // namespace
}  // namespace tutti::deploy
