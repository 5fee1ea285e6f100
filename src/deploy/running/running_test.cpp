// Running alone: a store in memory, a clock that only a test moves, and actions that do nothing but are noted. What is
// looked at is the order in which things are written and begun.
#include "deploy/running/running.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "deploy/planning/planning.h"
#include "deploy/record/record.h"
#include "format/yaml.h"

namespace tutti::deploy {
namespace {

// Ends each action at once, as a test says.
class NotingExecutor : public resource::ActionExecutor {
 public:
  struct Notes {
    std::vector<std::string> begun, probed;
    std::set<std::string> fail, lose;  // actions by name
    Found found = Found::kNotDone;
  };
  NotingExecutor(const model::System& system, Notes& notes) : system_(system), notes_(notes) {}

  double now() const override { return 0; }
  void start(const engine::ActionRequest& q) override {
    std::string name = system_.transition_text(q.instance, q.transition);
    engine::ActionResult r;
    r.instance = q.instance;
    r.transition = q.transition;
    r.attempt = q.attempt;
    if (!q.action->what.is(Kind::kNull)) notes_.begun.push_back(name);
    if (notes_.fail.count(name)) r.how = engine::How::kFailed, r.message = "as the test says";
    if (notes_.lose.count(name)) r.how = engine::How::kLost;
    done_.push_back(std::move(r));
  }
  void cancel(u32, u32) override {}
  void wait(std::vector<engine::ActionResult>& results, double) override {
    std::move(done_.begin(), done_.end(), std::back_inserter(results));
    done_.clear();
  }
  void stop_all() override {}
  resource::Effect effect(u32, u32) const override { return {}; }
  Found probe(u32 instance, u32 transition, bool, Failure&, engine::Outputs&) override {
    notes_.probed.push_back(system_.transition_text(instance, transition));
    return notes_.found;
  }
  void clear_unfinished(u32, u32) override {}
  engine::Outputs taken_as_done(u32, u32) override { return {}; }

 private:
  const model::System& system_;
  Notes& notes_;
  std::deque<engine::ActionResult> done_;
};

class StillClock : public Clock {
 public:
  double wall() const override { return 1'700'000'000; }
  double sleepless() const override { return 0; }
  double waking() const override { return 0; }
  void sleep(double) const override {}
};

// The world as the record says it, without this machine.
class RecordOnly : public World {
 public:
  RecordOnly(Session& session, Record& record) : session_(session), record_(record) {}
  std::optional<RecordedSystem> recorded(const std::string& system) override {
    return read_system(session_, record_, system);
  }
  OtherSystems others(const std::string&) override { return {}; }
  LearntDurations durations() override { return {}; }
  std::string home() override { return ""; }
  std::string fingerprint(const Value&) override { return "tree"; }
  Result<const Source*> template_file(const std::string&) override { return failure("no template"); }
  std::string real_directory(const std::string& directory) override { return directory; }

 private:
  Session& session_;
  Record& record_;
};

class RunningAlone : public ::testing::Test {
 protected:
  RunningAlone() : record(std::move(*record_in_memory())), world(session, record) {}

  Running running() {
    return Running(session, world,
                   {*record.store, *record.seal, clock, "",
                    [this](auto& plan, auto&, auto&) -> std::unique_ptr<resource::ActionExecutor> {
                      return std::make_unique<NotingExecutor>(plan.system, notes);
                    },
                    {}});
  }
  Outcome apply() {
    auto source = session.sources->add("system.yaml",
                                       "system: s\ncomponents:\n  a: {type: job, config: {command: make}}\n"
                                       "  b: {type: job, after: [a], config: {command: make}}\n");
    auto tree = read_yaml(session, **source);
    auto plan = Planning(session, world).prepare(*tree, "", std::string(kApplyRun));
    EXPECT_TRUE(plan);
    return running().run(*plan, settings);
  }
  std::string status(i64 run) { return (*record.store->run(run))->status; }
  std::vector<std::string> journal(i64 run) {
    std::vector<std::string> out;
    for (auto& e : *record.store->entries(run))
      if (!e.name.empty()) out.push_back((e.kind == store::Entry::Kind::kStart ? "begins " : "ended ") + e.name);
    return out;
  }

  Session session;
  Record record;
  StillClock clock;
  RecordOnly world;
  NotingExecutor::Notes notes;
  RunSettings settings;
};

using Lines = std::vector<std::string>;

TEST_F(RunningAlone, EveryActionIsInTheJournalBeforeAndAfterIt) {
  Outcome o = apply();
  EXPECT_TRUE(o.good()) << o.wrong;
  EXPECT_EQ(notes.begun, (Lines{"a.perform", "b.perform"}));
  EXPECT_EQ(journal(o.run), (Lines{"begins a/perform", "ended a/perform", "begins b/perform", "ended b/perform"}));
  EXPECT_EQ(status(o.run), "done");
  EXPECT_EQ(world.recorded("s")->serial, 1);
}

TEST_F(RunningAlone, WhatDependsOnAFailureIsNotBegun) {
  notes.fail = {"a.perform"};
  Outcome o = apply();
  EXPECT_FALSE(o.finished);
  EXPECT_EQ(notes.begun, Lines{"a.perform"});
  EXPECT_EQ(o.failures, Lines{"a.perform: as the test says"});
  EXPECT_EQ(status(o.run), "failed");
  EXPECT_EQ(world.recorded("s")->recorded.components.at("a").failed, "perform");
}

TEST_F(RunningAlone, AResultThatNobodyKnowsLeavesTheRunOpenAndTheActionInFlight) {
  notes.lose = {"a.perform"};
  Outcome o = apply();
  EXPECT_TRUE(o.open && o.unknown);
  EXPECT_EQ(status(o.run), "running");
  EXPECT_EQ(journal(o.run), Lines{"begins a/perform"});
  EXPECT_EQ(running().unfinished("s"), o.run);
}

TEST_F(RunningAlone, TakenUpAgainWhatWasInFlightIsLookedAtFirst) {
  notes.lose = {"a.perform"};
  i64 run = apply().run;
  notes = {};
  notes.found = resource::ActionExecutor::Found::kDone;
  Outcome o = running().resume(run, settings);
  EXPECT_TRUE(o.good()) << o.wrong;
  EXPECT_EQ(notes.probed, Lines{"a.perform"});
  EXPECT_EQ(notes.begun, Lines{"b.perform"}) << "what is done is not done again";
}

TEST_F(RunningAlone, WhatCannotBeSeenIsAskedAboutAndNothingIsBegun) {
  notes.lose = {"a.perform"};
  i64 run = apply().run;
  notes = {};
  notes.found = resource::ActionExecutor::Found::kUnknown;
  Outcome o = running().resume(run, settings);
  EXPECT_TRUE(o.unknown);
  EXPECT_EQ(o.actions, Lines{"a.perform"});
  EXPECT_TRUE(notes.begun.empty());
  EXPECT_EQ(status(run), "running");
  settings.decisions["a"] = "repeat";
  EXPECT_TRUE(running().resume(run, settings).good());
  EXPECT_EQ(notes.begun, (Lines{"a.perform", "b.perform"}));
}

TEST_F(RunningAlone, ASystemThatSomebodyElseHoldsIsNotTouched) {
  auto lease = record.store->acquire("s", store::this_process("somebody"), 30);
  ASSERT_TRUE(lease);
  Outcome o = apply();
  EXPECT_EQ(o.wrong_code, store::kHeld);
  EXPECT_TRUE(notes.begun.empty());
}

}  // namespace
}  // namespace tutti::deploy
