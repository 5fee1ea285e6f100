// What is recorded of an instance when a run has ended, case by case: a test writes down the facts of its case and
// looks at the one thing that it is about.
#include "deploy/recording/rules.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/component.h"
#include "text/diagnostic.h"
#include "tree/session.h"

namespace tutti::deploy {
namespace {

using engine::RecordedComponent;

// down --start--> ready --run--> up, and --stop--> down from up. Only `start` and `stop` do something.
model::ComponentType a_server() {
  auto named = [](const char* word) { return model::Named{Symbol(word), {}}; };
  model::TypeSource source;
  source.name = named("server");
  source.places = {named("down"), named("ready"), named("up")};
  source.initial = {named("down")};
  auto transition = [&](const char* name, const char* from, const char* to, bool acts) {
    model::TransitionSource t;
    t.name = named(name);
    t.source = named(from);
    t.destinations = {named(to)};
    if (acts) t.action.what = Value::boolean(true);
    source.transitions.push_back(t);
  };
  transition("start", "down", "ready", true);
  transition("run", "ready", "up", false);
  transition("stop", "up", "down", true);
  source.behaviours = {{named("deploy"), {named("start"), named("run")}}, {named("undeploy"), {named("stop")}}};
  Diagnostics diagnostics;
  auto type = model::compile(source, diagnostics);
  EXPECT_TRUE(type);
  return *type;
}

class Recording : public ::testing::Test {
 protected:
  Recording() : type(a_server()), b(session.arena) {
    planned.name = planned.component = "web";
    planned.kind = "server";
    planned.config = config("new");
    end.planned = &planned;
    end.type = &type;
    end.name = "web";
    end.goal = Symbol("up");
    stands("down", "down");
  }

  Value config(const char* command) const {
    std::vector<Entry> one{{Symbol("start"), Field::kPlain, Value::string(command)}};
    return b.map(one);
  }
  u32 place(const char* name) const { return type.find_place(Symbol(name)); }
  u32 transition(const char* name) const {
    for (u32 t = 0; t < type.transitions.size(); ++t)
      if (type.transitions[t].name.text() == name) return t;
    return model::kNone;
  }
  // "start" is half way: the transition has begun and has not ended.
  u32 element(const char* name) const {
    u32 at = place(name);
    return at == model::kNone ? type.transition_element(transition(name)) : at;
  }
  void stands(const char* at_first, const char* now) {
    end.began = {element(at_first)};
    end.stands = {element(now)};
    end.holding.start({}, type, end.began);
  }
  // What an earlier run left: up, with the settings of that time.
  void was_up() {
    old.name = old.instance = "web";
    old.type = "server";
    old.marking = {Symbol("up")};
    old.config = planned.old = config("old");
    end.old = &old;
    stands("up", "up");
  }
  void was_done_well() { end.acted = end.touched = end.ended = end.complete = true; }
  void failed(const char* transition) {
    end.failed = transition;
    end.acted = true;
  }

  resource::Resource resource(const char* type, const char* title, const char* key = "", const char* value = "") const {
    MapDraft m;
    if (*key) m.set(Symbol(key), Value::string(value));
    return {type, title, m.build(b)};
  }
  void holds(const resource::Resource& r) {
    end.holding.about(r, held_as_value(r, resource::Scrubber(Value::null()), b));
  }
  RecordedComponent after() const { return recorded_after(end, b); }
  static std::vector<std::string> held(const RecordedComponent& c) {
    std::vector<std::string> keys;
    for (auto& h : c.held) keys.push_back(resource::key_of(resource_of(h)));
    return keys;
  }

  Session session;
  model::ComponentType type;
  TreeBuilder b;
  engine::PlannedInstance planned;
  RecordedComponent old;
  EndedInstance end;
};

using Names = std::vector<Symbol>;
using Texts = std::vector<std::string>;

// ---- where it stands

TEST_F(Recording, WhatCameUpIsRecordedUp) {
  stands("down", "up");
  was_done_well();
  EXPECT_EQ(after().marking, Names{Symbol("up")});
  EXPECT_EQ(after().failed, "");
}

TEST_F(Recording, AnActionThatHasNotEndedLeavesItWhereItBegan) {
  stands("down", "start");
  EXPECT_EQ(after().marking, Names{Symbol("down")});
}

TEST_F(Recording, WhatWasOnlyTakenAsUpAndHasNotActedStandsWhereItStood) {
  was_up();
  old.marking = {Symbol("ready")};
  old.failed = "run";
  old.untouched = true;
  failed("stop");
  auto c = after();
  EXPECT_EQ(c.marking, Names{Symbol("ready")});
  EXPECT_EQ(c.failed, "run");
  EXPECT_TRUE(c.untouched);
}

TEST_F(Recording, WhatWasOnlyTakenAsUpAndHasActedIsHalfWayDown) {
  was_up();
  old.marking = {Symbol("ready")};
  stands("up", "stop");
  end.touched = true;
  failed("stop");
  EXPECT_EQ(after().marking, Names{Symbol(type.element_name(element("stop")))});
  EXPECT_EQ(after().failed, "stop");
}

TEST_F(Recording, WhatWasHalfWayAndCameNoFurtherIsRecordedAsBefore) {
  was_up();
  old.marking = {Symbol("in start of deploy")};
  stands("start", "start");
  EXPECT_EQ(after().marking, old.marking);
}

// ---- failures

TEST_F(Recording, AFailureIsRecordedWithTheTransition) {
  failed("start");
  EXPECT_EQ(after().failed, "start");
}

TEST_F(Recording, AFailureOfAnEarlierRunStaysWhereNothingWasRun) {
  was_up();
  old.failed = "start";
  EXPECT_EQ(after().failed, "start");
}

TEST_F(Recording, AFailureOfAnEarlierRunIsOverOnceAnActionWasRunWell) {
  was_up();
  old.failed = "start";
  was_done_well();
  EXPECT_EQ(after().failed, "");
}

TEST_F(Recording, WhatFailedBeforeItTouchedAnythingIsUntouched) {
  failed("start");
  EXPECT_TRUE(after().untouched);
  end.touched = true;
  EXPECT_FALSE(after().untouched);
}

TEST_F(Recording, WhatHasOnceBeenTouchedStaysSo) {
  was_up();
  failed("stop");
  EXPECT_FALSE(after().untouched);
}

TEST_F(Recording, AResourceOfACatalogThatFailedSaysSoByItsOutput) {
  planned.kind = "resource";
  was_done_well();
  end.outputs["status"] = "failed";
  EXPECT_EQ(after().failed, "apply");
}

// ---- settings

TEST_F(Recording, NewSettingsCountWhenEverythingWasDone) {
  was_up();
  was_done_well();
  auto c = after();
  EXPECT_TRUE(equal(c.config, config("new")));
  EXPECT_TRUE(c.tried.is(Kind::kNull));
}

TEST_F(Recording, SettingsThatItDidNotComeToAreTried) {
  was_up();
  failed("stop");
  auto c = after();
  EXPECT_TRUE(equal(c.config, config("old")));
  EXPECT_TRUE(equal(c.tried, config("new")));
}

TEST_F(Recording, WhatCameAnewHasTheNewSettingsEvenIfItFailedOnItsWay) {
  was_up();
  failed("run");
  end.holding.ended(type, transition("start"));
  EXPECT_TRUE(equal(after().config, config("new")));
}

TEST_F(Recording, WhatWasTriedByAnEarlierRunIsRememberedUntilAnActionIsRun) {
  was_up();
  old.tried = config("tried");
  EXPECT_TRUE(equal(after().tried, config("tried")));
  was_done_well();
  EXPECT_TRUE(after().tried.is(Kind::kNull));
}

TEST_F(Recording, ANewOneThatNeverCameUpHasTheSettingsItWasToHave) {
  failed("start");
  EXPECT_TRUE(equal(after().config, config("new")));
}

// ---- values of others

TEST_F(Recording, ItIsMadeWithTheValuesOfNow) {
  planned.config = config("${db.port}");
  end.settled = [this](const Value&) { return config("5432"); };
  stands("down", "up");
  was_done_well();
  EXPECT_TRUE(equal(after().made, config("5432")));
}

TEST_F(Recording, WithoutReferencesNothingIsSaidOfWhatItWasMadeWith) {
  was_done_well();
  EXPECT_TRUE(after().made.is(Kind::kNull));
}

TEST_F(Recording, WhatWasLeftAloneWasMadeWithTheValuesOfThen) {
  was_up();
  planned.config = planned.old = old.config = config("${db.port}");
  old.made = config("5432");
  end.complete = true;
  end.settled = [this](const Value&) { return config("5433"); };
  EXPECT_TRUE(equal(after().made, config("5432")));
}

TEST_F(Recording, WhatOnlyWentOnWasMadeWithTheValuesThatItHadThen) {
  was_up();
  planned.config = planned.old = old.config = old.tried = config("${db.port}");
  old.made = config("5432");
  was_done_well();
  end.settled = [this](const Value&) { return config("5433"); };
  EXPECT_TRUE(equal(after().made, config("5432")));
}

TEST_F(Recording, WhatItReadIsAddedToWhatItReadBefore) {
  was_up();
  std::vector<Entry> before{{Symbol("db.port"), Field::kPlain, Value::string("1")},
                            {Symbol("db.name"), Field::kPlain, Value::string("shop")}};
  old.reads = b.map(before);
  end.reads["db.port"] = Value::string("2");
  auto reads = after().reads;
  EXPECT_EQ(reads.find("db.port")->value.text(), "2");
  EXPECT_EQ(reads.find("db.name")->value.text(), "shop");
}

// ---- dependencies

TEST_F(Recording, ItNeedsWhatItIsLinkedTo) {
  end.uses = {{Symbol("db"), Symbol("db"), Symbol("service"), true, {}}};
  planned.needs = {{Symbol("db"), Symbol("db"), Symbol("service"), false, 1}};
  auto c = after();
  ASSERT_EQ(c.needs.size(), 1u);
  EXPECT_FALSE(c.needs[0].hold) << "as the plan says";
}

TEST_F(Recording, UntilItHasBecomeWhatItShouldBeItNeedsWhatItNeeded) {
  was_up();
  end.used = {{Symbol("db"), Symbol("db"), Symbol("service"), true, {}}};
  failed("stop");
  EXPECT_EQ(after().needs.size(), 1u);
  end.uses = {{Symbol("db"), Symbol("db2"), Symbol("service"), true, {}}};
  ASSERT_EQ(after().needs.size(), 1u);
  EXPECT_EQ(after().needs[0].provider.text(), "db2");
  end.complete = true;
  end.uses.clear();
  EXPECT_TRUE(after().needs.empty());
}

// ---- resources

TEST_F(Recording, ItHoldsTheLastWordOnEachResource) {
  was_done_well();
  holds(resource("file", "/a", "content", "one"));
  holds(resource("file", "/a", "content", "two"));
  auto c = after();
  ASSERT_EQ(held(c), Texts{"file//a"});
  EXPECT_EQ(resource_of(c.held[0]).parameters.find("content")->value.text(), "two");
}

TEST_F(Recording, WhatItLetsGoItHoldsNoMore) {
  was_done_well();
  holds(resource("file", "/a"));
  auto r = resource("file", "/a");
  r.let_go = true;
  holds(r);
  EXPECT_TRUE(after().held.empty());
}

TEST_F(Recording, CommandsWithoutACheckAndWaitsAreNotHeld) {
  was_done_well();
  holds(resource("exec", "make"));
  holds(resource("wait", "port"));
  holds(resource("process", "web", "ensure", "reloaded"));
  holds(resource("exec", "init", "creates", "/db"));
  EXPECT_EQ(held(after()), Texts{"exec/init"});
}

TEST_F(Recording, ComingUpAnewItHoldsNothingOfItsWayDown) {
  was_up();
  was_done_well();
  holds(resource("file", "/old"));
  end.holding.ended(type, transition("stop"));
  end.holding.ended(type, transition("start"));
  holds(resource("file", "/new"));
  EXPECT_EQ(held(after()), Texts{"file//new"});
}

TEST_F(Recording, WhatGoesOnHalfWayHasNotComeAnew) {
  was_up();
  was_done_well();
  stands("start", "up");
  holds(resource("file", "/a"));
  end.holding.ended(type, transition("start"));
  EXPECT_EQ(held(after()), Texts{"file//a"});
}

TEST_F(Recording, ACheckIsRenewedAsTheTypeSaysNow) {
  was_up();
  was_done_well();
  auto recorded = resource("exec", "init", "creates", "/old"), now = resource("exec", "init", "creates", "/new");
  end.holding.start({{"exec/init", held_as_value(recorded, resource::Scrubber(Value::null()), b)}}, type, end.began);
  end.meant_checks["exec/init"] = now.parameters;
  auto c = after();
  ASSERT_EQ(c.held.size(), 1u);
  EXPECT_EQ(resource_of(c.held[0]).parameters.find("creates")->value.text(), "/new");
}

TEST_F(Recording, ACheckThatTheTypeNoLongerKnowsIsDropped) {
  was_up();
  was_done_well();
  auto recorded = resource("exec", "init", "creates", "/old");
  end.holding.start({{"exec/init", held_as_value(recorded, resource::Scrubber(Value::null()), b)}}, type, end.began);
  EXPECT_TRUE(after().held.empty());
}

TEST_F(Recording, FilesOfWhatDidNotComeToItsEndAreRemembered) {
  failed("start");
  end.written = {"/half"};
  auto stray = after().stray;
  ASSERT_TRUE(stray.is(Kind::kList));
  EXPECT_EQ(stray.items()[0].text(), "/half");
}

TEST_F(Recording, WhatCameToItsEndHasNoStrays) {
  was_up();
  old.stray = b.list(std::vector<Value>{Value::string("/half")});
  was_done_well();
  EXPECT_TRUE(after().stray.is(Kind::kNull));
}

TEST_F(Recording, WhatWasAllThereBeforeItCameWasFound) {
  was_done_well();
  holds(resource("file", "/etc/motd"));
  end.share.before = {"file:/etc/motd"};
  EXPECT_TRUE(after().found);
  end.share.touched = {"file:/etc/other"};
  EXPECT_FALSE(after().found);
}

// ---- the table

TEST_F(Recording, EveryRuleSaysWhatItSeesTo) {
  for (auto& rule : recording_rules()) EXPECT_FALSE(rule.says.empty());
}

}  // namespace
}  // namespace tutti::deploy
