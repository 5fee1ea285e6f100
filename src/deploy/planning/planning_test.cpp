// Planning alone: the world is what a test says it is, and nothing is written, run or looked at.
#include "deploy/planning/planning.h"

#include <gtest/gtest.h>

#include "deploy/planning/check.h"
#include "format/yaml.h"

namespace tutti::deploy {
namespace {

class SaidWorld : public World {
 public:
  explicit SaidWorld(Session& session) : session_(session) {}
  std::optional<RecordedSystem> recorded(const std::string&) override { return there; }
  OtherSystems others(const std::string&) override { return other; }
  LearntDurations durations() override { return learnt; }
  std::string home() override { return "/home"; }
  std::string fingerprint(const Value& tree) override { return tree.is(Kind::kMap) ? "tree" : ""; }
  Result<const Source*> template_file(const std::string& path) override {
    asked.push_back(path);
    auto source = session_.sources->add(path, "listen ${config.path}\n");
    return source ? Result<const Source*>(*source) : failure("no template");
  }
  std::string real_directory(const std::string& directory) override { return directory; }

  RecordedSystem there;
  OtherSystems other;
  LearntDurations learnt;
  std::vector<std::string> asked;  // templates

 private:
  Session& session_;
};

class PlanningAlone : public ::testing::Test {
 protected:
  PlanningAlone() : world(session), planning(session, world) { world.there.state = TreeBuilder(session.arena).map({}); }

  std::optional<Prepared> plan(const std::string& text) {
    auto source = session.sources->add("system.yaml", text);
    auto tree = read_yaml(session, **source);
    EXPECT_TRUE(tree);
    return planning.prepare(*tree, "", std::string(kApplyRun));
  }
  // A component of type `file` that an earlier run left.
  void is_recorded(const std::string& name, const std::string& path, bool was_there_before = false) {
    TreeBuilder b(session.arena);
    auto plan_of_it = plan("system: s\ncomponents:\n  " + name + ": {type: file, config: {path: " + path + "}}\n");
    ASSERT_TRUE(plan_of_it);
    const engine::PlannedInstance& planned = plan_of_it->program.instances[0];
    engine::RecordedComponent c;
    c.name = c.instance = name;
    c.type = planned.kind;
    c.marking = {Symbol("present")};
    c.config = planned.config;
    std::vector<Entry> held{{Symbol("type"), Field::kPlain, Value::string("file")},
                            {Symbol("title"), Field::kPlain, b.string(path)},
                            {Symbol("parameters"), Field::kPlain, b.map({})}};
    c.held = {b.map(held)};
    c.found = was_there_before;
    if (const Entry* kinds = plan_of_it->plan.flat.find("kinds"))
      for (const Entry& e : kinds->value.entries()) world.there.recorded.kinds[std::string(e.key.text())] = e.value;
    world.there.recorded.add(std::move(c));
    world.there.state = engine::write_recorded(world.there.recorded, b);
    world.there.serial = 1;
  }
  std::string trouble() { return render(session.diagnostics, *session.sources, DiagnosticStyle::kLine, false); }

  Session session;
  SaidWorld world;
  Planning planning;
};

TEST_F(PlanningAlone, WhatIsNotThereIsAdded) {
  auto p = plan("system: s\ncomponents:\n  f: {type: file, config: {path: /f, content: x}}\n");
  ASSERT_TRUE(p) << trouble();
  ASSERT_EQ(p->plan.changes.size(), 1u);
  EXPECT_EQ(p->plan.changes[0].kind, engine::PlanChange::Kind::kAdd);
  EXPECT_EQ(p->system, "s");
  EXPECT_EQ(p->serial, 0);
  EXPECT_FALSE(p->digest.empty());
}

TEST_F(PlanningAlone, WhatIsNotWantedAnyMoreGoes) {
  is_recorded("f", "/f");
  auto p = plan("system: s\ncomponents: {}\n");
  ASSERT_TRUE(p) << trouble();
  ASSERT_EQ(p->plan.changes.size(), 1u);
  EXPECT_EQ(p->plan.changes[0].kind, engine::PlanChange::Kind::kRemove);
  EXPECT_EQ(p->plan.changes[0].actions, std::vector<std::string>{"remove file /f"});
  EXPECT_EQ(p->serial, 1);
}

TEST_F(PlanningAlone, WhatWasThereBeforeIsNotRemoved) {
  is_recorded("f", "/f", true);
  auto p = plan("system: s\ncomponents: {}\n");
  ASSERT_TRUE(p) << trouble();
  ASSERT_EQ(p->plan.changes.size(), 1u);
  EXPECT_TRUE(p->plan.changes[0].actions.empty());
}

TEST_F(PlanningAlone, WhatAnotherSystemHasIsLeftAndThatIsSaid) {
  is_recorded("f", "/f");
  world.other.add("shop", world.there.recorded, world.there.state);
  auto p = plan("system: s\ncomponents: {}\n");
  ASSERT_TRUE(p) << trouble();
  EXPECT_EQ(p->plan.changes[0].why, "file /f is left: shop/f has it, too");
}

TEST_F(PlanningAlone, ATemplateIsAskedForBesideTheConfiguration) {
  auto p = plan("system: s\ncomponents:\n  f: {type: file, config: {path: /f, template: web.conf}}\n");
  ASSERT_TRUE(p) << trouble();
  ASSERT_EQ(world.asked.size(), 1u);
  EXPECT_TRUE(world.asked[0].ends_with("web.conf"));
  EXPECT_EQ(p->program.instances[0].config.find("content")->value.text(), "listen /f\n")
      << "and what it refers to is put in";
}

TEST_F(PlanningAlone, ALearntDurationCountsForTheActionOfTheComponent) {
  world.learnt["f/make"] = {3, 7.5, 0};
  auto p = plan("system: s\ncomponents:\n  f: {type: file, config: {path: /f, content: x}}\n");
  ASSERT_TRUE(p) << trouble();
  Check check = check_plan(session, *p);
  EXPECT_TRUE(check.safe);
  EXPECT_EQ(check.total, 7.5);
}

TEST_F(PlanningAlone, FromWhatAProgramLeftNoPlanLeadsOn) {
  is_recorded("f", "/f");
  world.there.recorded.program = true;
  EXPECT_FALSE(plan("system: s\ncomponents: {}\n"));
  EXPECT_NE(trouble().find("STATE-PROGRAM"), std::string::npos) << trouble();
}

TEST_F(PlanningAlone, ASavedPlanIsRefusedWhereTheRecordHasMoved) {
  auto p = plan("system: s\ncomponents:\n  f: {type: file, config: {path: /f, content: x}}\n");
  ASSERT_TRUE(p);
  EXPECT_TRUE(planning.take_up(*p)) << trouble();
  world.there.serial = 1;
  EXPECT_FALSE(planning.take_up(*p));
  EXPECT_NE(trouble().find("PLAN-STALE"), std::string::npos) << trouble();
}

TEST_F(PlanningAlone, TheSameInputGivesTheSamePlan) {
  auto text = "system: s\ncomponents:\n  f: {type: file, config: {path: /f, content: x}}\n";
  auto one = plan(text), two = plan(text);
  ASSERT_TRUE(one && two);
  EXPECT_TRUE(equal(one->plan.flat, two->plan.flat));
}

}  // namespace
}  // namespace tutti::deploy
