// What is written of an instance with a plan is read back the same: everything, and nothing but what is said.
#include "engine/plan/planned_instance.h"

#include <gtest/gtest.h>

#include "tree/session.h"

namespace tutti::engine {
namespace {

PlannedInstance everything(const TreeBuilder& b) {
  auto list = [&](std::string_view text) { return b.list(std::vector<Value>{b.string(text)}); };
  auto map = [&](std::string_view key, std::string_view text) {
    return b.map(std::vector<Entry>{{Symbol(key), Field::kPlain, b.string(text)}});
  };
  PlannedInstance p;
  p.name = "db#2";
  p.component = "db";
  p.type = "process+2";
  p.kind = "process";
  p.host = Symbol("h1");
  p.present = p.protect = p.half_made = true;
  p.stays = false;
  p.generation = 2;
  p.former = {"base", "store"};
  p.marking = {Symbol("off"), Symbol("up")};
  p.config = map("port", "1");
  p.old = map("port", "2");
  p.tried = map("port", "3");
  p.made = map("port", "4");
  p.keep = list("file:/etc/motd");
  p.formerly = map("file:/etc/hosts", "kept");
  p.held = list("file /etc/hosts");
  p.stray = list("/tmp/half");
  p.needs = {{Symbol("net"), Symbol("lan"), Symbol("address"), false, 7},
             {Symbol("log"), Symbol("gone"), Symbol("up")}};
  p.orders = {{Symbol("up"), Symbol("lan"), Symbol("up"), {}}};
  return p;
}

TEST(PlannedInstance, EverythingComesBack) {
  Session session;
  TreeBuilder b(session.arena);
  PlannedInstance p = everything(b);
  Value written = write_planned(p, b);
  PlannedInstance again = read_planned(written);
  EXPECT_TRUE(equal(write_planned(again, b), written));
  EXPECT_TRUE(again.goes());
  EXPECT_EQ(again.made_as(), "base");
  ASSERT_EQ(again.needs.size(), 2u);
  EXPECT_EQ(again.needs[0].instance, 7u);
  EXPECT_FALSE(again.needs[0].hold);
  EXPECT_EQ(again.needs[1].instance, model::kNone);
}

TEST(PlannedInstance, WhatIsNotSaidIsNotWritten) {
  Session session;
  TreeBuilder b(session.arena);
  PlannedInstance p;
  p.name = p.component = "a";
  p.config = b.map({});
  Value written = write_planned(p, b);
  for (auto key :
       {"old", "tried", "made", "keep", "formerly", "held", "stray", "former", "half_made", "protect", "orders"})
    EXPECT_EQ(written.find(key), nullptr) << key;
  PlannedInstance again = read_planned(written);
  EXPECT_TRUE(again.stays);
  EXPECT_TRUE(again.old.is(Kind::kNull));
}

TEST(PlannedInstance, DamagedEntriesAreReadAsFarAsTheyMakeSense) {
  Session session;
  TreeBuilder b(session.arena);
  for (Value wrong : {Value::null(), Value::integer(-1), b.string("x"), b.list({})}) {
    std::vector<Entry> all;
    for (auto key : {"name", "stays", "generation", "former", "places", "keep", "formerly", "held", "stray", "needs",
                     "orders", "protect"})
      all.push_back({Symbol(key), Field::kPlain, wrong});
    PlannedInstance p = read_planned(b.map(all));
    EXPECT_TRUE(p.stays);
    EXPECT_EQ(p.generation, 1u);
    EXPECT_TRUE(p.needs.empty());
  }
}

}  // namespace
}  // namespace tutti::engine
