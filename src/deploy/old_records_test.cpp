// Records that older versions made (tests/records): they open, and everything can be done with them.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "deploy/record/encode.h"
#include "deploy/testing.h"

namespace tutti::deploy {
namespace {

namespace fs = std::filesystem;

const fs::path kRecords = fs::path(TUTTI_SOURCE_DIR) / "tests/records";

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// A copy of a record, which is its owner's alone as every record is.
class OldRecords : public Deploy, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    Deploy::SetUp();
    fs::path record = fs::path(dir) / ".tutti";
    fs::copy(kRecords / std::to_string(GetParam()), record, fs::copy_options::recursive);
    ::chmod(record.c_str(), 0700);
    for (auto& e : fs::recursive_directory_iterator(record)) ::chmod(e.path().c_str(), e.is_directory() ? 0700 : 0600);
    OneCall adopts(dir, true);
  }
};

TEST_P(OldRecords, WhatIsRecordedIsRead) {
  Call c(dir);
  auto shop = c.deployer->recorded("shop");
  ASSERT_TRUE(shop) << c.trouble();
  EXPECT_EQ(shop->order, (std::vector<std::string>{"data", "motd", "db"}));
  EXPECT_EQ(shop->components.at("db").marking, std::vector<Symbol>{Symbol("done")});
  EXPECT_TRUE(shop->components.at("db").config.find("command")->value.secret());
  EXPECT_EQ(shop->components.at("motd").config.find("content")->value.text(), "hello again\n");
}

TEST_P(OldRecords, TheSameConfigurationChangesNothing) {
  Call c(dir);
  auto p = c.prepare(text_of(kRecords / "shop.yaml"));
  ASSERT_TRUE(p) << c.trouble();
  EXPECT_TRUE(p->plan.empty());
}

TEST_P(OldRecords, ASystemIsRolledBackToAnEarlierRunOfIt) {
  Call c(dir);
  auto run = c.record->store->run(1);
  ASSERT_TRUE(run && *run);
  auto wanted = decode(c.session, "run 1", (*run)->wanted, *c.record->seal);
  ASSERT_TRUE(wanted) << c.trouble();
  auto p = c.deployer->prepare(*wanted, "shop", std::string(kRollbackRun));
  ASSERT_TRUE(p) << c.trouble();
  ASSERT_EQ(p->plan.changes.size(), 1u);
  EXPECT_EQ(p->plan.changes[0].component, "motd");
  EXPECT_TRUE(c.deployer->check(*p).safe);
}

TEST_P(OldRecords, ASystemCanBeRemoved) {
  Call c(dir);
  auto p = c.deployer->prepare_removal("shop");
  ASSERT_TRUE(p) << c.trouble();
  EXPECT_EQ(p->plan.changes.size(), 3u);
  EXPECT_TRUE(c.deployer->check(*p).safe);
}

TEST_P(OldRecords, ARunThatWasCutOffIsSeenAndEnded) {
  Call c(dir);
  i64 run = c.deployer->unfinished("cut");
  ASSERT_EQ(run, 3);
  auto standing = c.deployer->standing(run);
  ASSERT_TRUE(standing) << c.trouble();
  EXPECT_EQ(standing->recorded.components.at("one").marking, std::vector<Symbol>{Symbol("done")});
  EXPECT_EQ(standing->open.at("two"), std::vector<std::string>{"perform"});
  c.settings.give_up = true;
  Outcome o = c.deployer->resume(run, c.settings);
  EXPECT_EQ(o.wrong, "");
  EXPECT_EQ(c.deployer->unfinished("cut"), 0);
  EXPECT_EQ(c.deployer->recorded("cut")->components.at("two").failed, "perform");
}

INSTANTIATE_TEST_SUITE_P(Versions, OldRecords, ::testing::Values(5));

}  // namespace
}  // namespace tutti::deploy
