#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "deploy/deployer.h"
#include "deploy/recording/markings.h"
#include "deploy/testing.h"
#include "format/yaml.h"

namespace tutti::deploy {
namespace {

namespace fs = std::filesystem;

class Programs : public InFolder {
 protected:
  struct Call : OneCall {
    using OneCall::OneCall;
    std::optional<Program> read(const std::string& text) {
      auto source = session.sources->add("program.yaml", text);
      auto tree = read_yaml(session, **source);
      if (!tree) return std::nullopt;
      auto model = model::read_system(session, *tree);
      if (!model) return std::nullopt;
      Program p;
      p.system = "s";
      p.tree = *tree;
      p.model = std::move(*model);
      return p;
    }
    Outcome run(const std::string& text) {
      auto p = read(text);
      EXPECT_TRUE(p) << trouble();
      return p ? deployer->run(*p, settings) : Outcome{};
    }
    Outcome resume() { return deployer->resume(deployer->unfinished("s"), settings); }
  };

  // Three layers of three; each action fails when it is done twice, and its check gives what it would have given.
  std::string layers() {
    std::string t =
        "types:\n  T:\n    places: [off, got, made]\n    transitions:\n      get: {from: off, to: got, run: 'mkdir " +
        dir + "/out/$TUTTI_INSTANCE-get', check: 'test -d " + dir +
        "/out/$TUTTI_INSTANCE-get'}\n      make: {from: got, to: made, run: 'mkdir " + dir +
        "/out/$TUTTI_INSTANCE-make; echo word=$TUTTI_INSTANCE$x_word >> $TUTTI_OUTPUT', check: 'test -d " + dir +
        "/out/$TUTTI_INSTANCE-make && echo word=$TUTTI_INSTANCE$x_word >> $TUTTI_OUTPUT'}\n"
        "    behaviours: {go: [get, make]}\n    use: {x: [got, made]}\n    provide: {y: [made]}\n"
        "  First:\n    places: [off, made]\n    transitions: {make: {from: off, to: made, run: 'echo word=0 >> "
        "$TUTTI_OUTPUT', idempotent: true}}\n    behaviours: {go: [make]}\n    provide: {y: [made]}\nprogram:\n"
        "- add(first, First)\n- pushB(first, go)\n";
    for (int layer = 0; layer < 3; ++layer)
      for (int i = 0; i < 3; ++i) {
        std::string n = name(layer, i), p = layer ? name(layer - 1, i) : "first";
        t += "- add(" + n + ", T)\n- con(" + n + ", x, " + p + ", y)\n- pushB(" + n + ", go)\n";
      }
    return t + "- wait_all()\n";
  }
  static std::string name(int layer, int i) { return "j" + std::to_string(layer) + std::to_string(i); }
};

// A run may get stuck between the end of an action and the place it leads to.
TEST_F(Programs, WhatIsDoneIsWrittenDownWhereItCouldNotGoOn) {
  Call c(dir);
  auto p = c.read(layers());
  ASSERT_TRUE(p) << c.trouble();
  const model::ComponentType& type = p->model.type_of(1);
  auto after = [&](std::string_view name) {
    auto t =
        std::find_if(type.transitions.begin(), type.transitions.end(), [&](auto& x) { return x.name.text() == name; });
    return left_by(type, {type.outcomes_of(*t)[0].ending});
  };
  EXPECT_EQ(after("make"), std::vector<Symbol>{Symbol("made")});
  EXPECT_EQ(after("get"), std::vector<Symbol>{Symbol("after get of go")});  // it would use x, which need not be there
  EXPECT_EQ(left_by(type, {type.transition_element(0)}), std::vector<Symbol>{Symbol("off")});
}

TEST_F(Programs, AreJournalledAndRecorded) {
  {
    Call c(dir);
    Outcome o = c.run(layers());
    EXPECT_TRUE(o.finished) << o.wrong;
    EXPECT_EQ(o.changed, 19u);
  }
  Call c(dir);
  EXPECT_EQ(c.deployer->unfinished("s"), 0);
  auto record = c.record->store->run(1);
  ASSERT_TRUE(record && *record);
  EXPECT_EQ((*record)->kind, kProgramRun);
  EXPECT_EQ((*record)->status, "done");
  EXPECT_EQ(c.record->store->entries(1)->size(), 38u);  // a start and an end each
  auto state = c.deployer->recorded("s");
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->program);
  EXPECT_EQ(state->components.size(), 10u);
  const auto& last = state->components.at("j22");
  EXPECT_EQ(last.marking, std::vector<Symbol>{Symbol("made")});
  EXPECT_EQ(last.outputs.at("word"), "j22j12j020");
  ASSERT_EQ(last.needs.size(), 1u);
  EXPECT_EQ(last.needs[0].provider.text(), "j12");
  // No plan leads on from what a program left.
  EXPECT_FALSE(c.deployer->prepare_removal("s"));
}

TEST_F(Programs, KilledAtRandomMomentsNothingIsLostAndNothingDoneTwice) {
  const char* wish = std::getenv("TUTTI_KILL_POINTS");
  int points = wish ? std::atoi(wish) : 8, cut = 0, again = 0;
  std::mt19937 random(11);
  auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(Call(dir).run(layers()).finished);
  auto whole = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began).count();
  for (int k = 0; k < points; ++k) {
    fs::remove_all(dir);
    fs::create_directories(dir + "/out");
    cut += killed_after(static_cast<useconds_t>(random() % static_cast<u64>(whole)), [&] { Call(dir).run(layers()); });
    if (Call(dir).deployer->unfinished("s") && random() % 3 == 0)
      again += killed_after(static_cast<useconds_t>(random() % static_cast<u64>(whole / 2 + 1)),
                            [&] { Call(dir).resume(); });
    Call c(dir);
    Outcome o = c.deployer->unfinished("s") ? c.resume() : Outcome{};
    if (!o.run && c.record->store->runs("s", 1)->empty())
      o = c.run(layers());  // killed before anything was written down
    ASSERT_TRUE(o.wrong.empty() && o.failures.empty() && o.failed == 0)
        << "kill point " << k << ": " << o.wrong << (o.failures.empty() ? "" : o.failures[0]);
    auto state = c.deployer->recorded("s");
    ASSERT_TRUE(state);
    for (int layer = 0; layer < 3; ++layer)
      for (int i = 0; i < 3; ++i)
        for (const char* what : {"-get", "-make"})
          ASSERT_TRUE(fs::is_directory(dir + "/out/" + name(layer, i) + what)) << "kill point " << k;
    ASSERT_EQ(state->components.at("j22").outputs.at("word"), "j22j12j020") << "kill point " << k;
  }
  std::printf("%d runs, %d cut off, %d of them again while resuming\n", points, cut, again);
}

TEST_F(Programs, AnActionWhoseResultCannotBeSeenIsAskedAbout) {
  std::string text =
      "types: {T: {places: [a, b], transitions: {t: {from: a, to: b, run: 'echo x >> " + dir +
      "/log; sleep 30'}}, behaviours: {go: [t]}}}\nassembly: {instances: {i: T, j: T}}\nprogram: ['pushB(i, go)', "
      "'wait_all()']\n";
  EXPECT_TRUE(killed_once(dir + "/log", [&] { Call(dir).run(text); }));
  for (int k = 0; k < 2; ++k) {
    Call c(dir);
    Outcome o = c.resume();
    EXPECT_TRUE(o.unknown) << o.wrong;
    EXPECT_FALSE(o.finished);
    auto standing = c.deployer->standing(c.deployer->unfinished("s"));
    ASSERT_TRUE(standing);
    EXPECT_EQ(standing->open.at("i"), std::vector<std::string>{"t"});
    EXPECT_FALSE(standing->open.count("j"));
  }
  EXPECT_EQ(*here()->read(dir + "/log"), "x\n");
  Call c(dir);
  c.settings.decisions["i.t"] = "done";
  EXPECT_TRUE(c.resume().finished);
  EXPECT_EQ(*here()->read(dir + "/log"), "x\n");
  auto state = c.deployer->recorded("s");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->components.at("i").marking, std::vector<Symbol>{Symbol("b")});
}

TEST_F(Programs, ThatAreLeftAtThatAreRecordedAsTheyAre) {
  std::string text = "types: {T: {places: [a, b], transitions: {t: {from: a, to: b, run: 'touch " + dir +
                     "/log; sleep 30'}}, behaviours: {go: "
                     "[t]}}}\nassembly: {instances: {i: T}}\nprogram: ['pushB(i, go)', 'wait_all()']\n";
  EXPECT_TRUE(killed_once(dir + "/log", [&] { Call(dir).run(text); }));
  Call c(dir);
  c.settings.give_up = true;
  Outcome o = c.resume();
  EXPECT_TRUE(o.wrong.empty()) << o.wrong;
  EXPECT_EQ(c.deployer->unfinished("s"), 0);
  auto state = c.deployer->recorded("s");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->components.at("i").marking, std::vector<Symbol>{Symbol("a")});
  EXPECT_EQ(state->components.at("i").failed, "t");
}

TEST_F(Programs, SecretsThatAnActionGivesAreSealed) {
  std::string text =
      "types: {T: {places: [a, b], transitions: {t: {from: a, to: b, run: 'echo \"it is $PW\"; echo \"seen=<$PW>\" >> "
      "$TUTTI_OUTPUT; false', retry: 0, on_fail: b}}, behaviours: {go: [t]}}}\nassembly: {instances: {i: T}}\nprogram: "
      "['pushB(i, go)', 'wait_all()']\n";
  Call c(dir);
  auto p = c.read(text);
  ASSERT_TRUE(p);
  TreeBuilder b(c.session.arena);
  std::vector<Entry> with{{Symbol("PW"), Field::kPlain, b.string("CANARY-4c2").as_secret()}};
  p->model.instances[0].with = b.map(with);
  MapDraft root;
  for (const Entry& e : p->tree.entries()) root.set(e.key, e.value);
  std::vector<Entry> all{{Symbol("i"), Field::kPlain, p->model.instances[0].with}};
  root.set(Symbol("with"), b.map(all));
  p->tree = root.build(b);
  std::string log;
  c.settings.ended = [&](const model::System&, const engine::Runner&, const engine::RunReport& r) {
    log = r.actions.at(0).log;
  };
  EXPECT_TRUE(c.deployer->run(*p, c.settings).finished);
  EXPECT_EQ(log, "it is (secret)\n");
  for (auto& f : fs::recursive_directory_iterator(dir + "/.tutti")) {
    if (!f.is_regular_file()) continue;
    EXPECT_EQ(here()->read(f.path())->find("CANARY-4c2"), std::string::npos) << f.path();
  }
  auto state = c.deployer->recorded("s");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->components.at("i").outputs.at("seen"), "<CANARY-4c2>");
  EXPECT_TRUE(state->components.at("i").secret.count("seen"));
}

// F6: what failed for good is started again, or declared done, in a program that has ended; once more when that is cut
// off.
TEST_F(Programs, WhatFailedIsStartedAgainInAProgramThatHasEnded) {
  std::string log = " >> " + dir + "/log";
  std::string text =
      "types:\n  T:\n    places: [off, half, on]\n    transitions:\n      first: {from: off, to: half, run: 'echo "
      "first-$TUTTI_INSTANCE" +
      log + "'}\n      second: {from: half, to: on, run: 'echo second-$TUTTI_INSTANCE" + log + "; test -e " + dir +
      "/slow && { touch " + dir + "/begun; sleep 30; }; test -e " + dir + "/ok', check: 'test -e " + dir +
      "/checked'}\n    behaviours: {go: [first, second]}\nprogram: ['add(a, T)', 'add(b, T)', 'pushB(a, go)', "
      "'wait(a)', 'pushB(b, go)', 'wait_all()']\n";
  {
    Call c(dir);
    Outcome o = c.run(text);
    EXPECT_FALSE(o.finished);
    EXPECT_EQ(o.retry, "a.second");
  }
  auto again = [&](const std::string& action, const std::string& what) {
    Call c(dir);
    c.settings.decisions[action] = what;
    return c.deployer->resume(1, c.settings);
  };
  {
    Call c(dir);
    EXPECT_NE(c.deployer->resume(1, c.settings).wrong, "");  // it has ended, and nobody said what to do
  }
  EXPECT_NE(again("a.first", "repeat").wrong, "");  // that did not fail
  Outcome o = again("a.second", "repeat");
  EXPECT_EQ(o.wrong, "");
  EXPECT_EQ(o.failed, 1u);  // and again it did
  here()->write(dir + "/slow", "", 0644);
  EXPECT_TRUE(killed_once(dir + "/begun", [&] { again("a.second", "repeat"); }));
  fs::remove(dir + "/slow");
  {
    Call c(dir);
    EXPECT_EQ(c.deployer->unfinished("s"), 1);
    EXPECT_FALSE(c.resume().finished);  // its check says no, it is done again, and fails
  }
  o = again("a", "done");
  EXPECT_FALSE(o.finished);  // now it is b's turn
  EXPECT_EQ(o.retry, "b.second");
  here()->write(dir + "/ok", "", 0644);
  o = again("b.second", "repeat");
  EXPECT_TRUE(o.finished);
  EXPECT_EQ(o.failed, 0u);
  EXPECT_EQ(*here()->read(dir + "/log"),
            "first-a\nsecond-a\nsecond-a\nsecond-a\nsecond-a\nfirst-b\nsecond-b\nsecond-b\n");
  // Once another run has begun from there, there is no way back into this one.
  {
    Call c(dir);
    fs::remove(dir + "/ok");
    EXPECT_FALSE(c.run(text).finished);
    EXPECT_FALSE(c.run(text).finished);
  }
  Call c(dir);
  c.settings.decisions["a.second"] = "repeat";
  EXPECT_EQ(c.deployer->resume(2, c.settings).wrong_code, store::kStale);
}

}  // namespace
}  // namespace tutti::deploy
