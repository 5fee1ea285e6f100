#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "deploy/deployer.h"
#include "deploy/record/encode.h"
#include "deploy/record/saved_plan.h"
#include "deploy/running/journal.h"
#include "deploy/testing.h"
#include "format/yaml.h"

namespace tutti::deploy {
namespace {

namespace fs = std::filesystem;

TEST_F(Deploy, AddsThenChangesNothing) {
  std::string text = "system: s\ncomponents:\n" + job("a") + job("b", "    after: [a]\n");
  Outcome o = apply(text);
  EXPECT_TRUE(o.finished);
  EXPECT_EQ(o.changed, 2u);
  EXPECT_TRUE(done("a") && done("b"));
  EXPECT_EQ(program(text).size(), 1u);  // wait_all
}

// Two machines may have a record at the same path, each with a first run: nobody may end what the other has started.
TEST_F(Deploy, WhatARunStartsHasAMarkUnlikeAnyOther) {
  std::string text =
      "system: s\ncomponents:\n  a: {type: job, config: {command: 'echo $TUTTI_ACTION > " + dir + "/mark'}}\n";
  std::set<std::string> marks;
  for (int k = 0; k < 3; ++k) {
    ASSERT_TRUE(apply(text).finished);
    std::string mark = *here()->read(dir + "/mark");
    EXPECT_GT(mark.size(), 20u);
    marks.insert(mark);
    fs::remove_all(dir + "/.tutti");
  }
  EXPECT_EQ(marks.size(), 3u);
}

// Whoever put a key into a repository can read what it seals and sign plans with it.
TEST_F(Deploy, AKeyThatCameFromElsewhereIsNotUsed) {
  std::string record = dir + "/.tutti", key = record + "/key";
  auto other = [&] {
    std::ofstream(key + ".new", std::ios::binary) << std::string(32, 'k');
    fs::permissions(key + ".new", fs::perms::owner_read | fs::perms::owner_write);
    fs::rename(key + ".new", key);
  };
  fs::create_directory(record);
  other();
  auto first = open_record(record);
  ASSERT_FALSE(first) << "before there is a record";
  EXPECT_EQ(first.error().code, store::kFromElsewhere);
  fs::remove(key);
  ASSERT_TRUE(open_record(record));
  other();
  auto later = open_record(record);
  ASSERT_FALSE(later) << "in place of the record's own";
  EXPECT_EQ(later.error().code, store::kFromElsewhere);
  EXPECT_TRUE(open_record(record, true));
  EXPECT_TRUE(open_record(record)) << "said once it is known";
}

TEST_F(Deploy, MistakesAreReportedWhereTheyAre) {
  Call c(dir);
  EXPECT_FALSE(
      c.prepare("components:\n  a:\n    type: proces\n  b:\n    type: process\n    config: {comand: x}\n    uses: {x: "
                "nobody}\n"));
  std::string said = c.trouble();
  EXPECT_NE(said.find("system.yaml:3:11: error[DEPLOY-UNKNOWN-TYPE]"), std::string::npos) << said;
  EXPECT_NE(said.find("process"), std::string::npos) << said;
  EXPECT_NE(said.find("system.yaml:6:22: error[DEPLOY-UNKNOWN-CONFIG]"), std::string::npos) << said;
  EXPECT_NE(said.find("DEPLOY-CONFIG-MISSING"), std::string::npos) << said;
  EXPECT_NE(said.find("system.yaml:7:15: error[DEPLOY-UNKNOWN-COMPONENT]"), std::string::npos) << said;
}

TEST_F(Deploy, AFileIsChangedInPlaceAndTheProcessThatHoldsItStays) {
  auto text = [&](const std::string& content) {
    return "system: s\ncomponents:\n  f: {type: file, config: {path: " + dir + "/f, content: " + content +
           "}}\n  p: {type: process, uses: {f: f}, config: {command: sleep 1000}}\n";
  };
  EXPECT_TRUE(apply(text("one")).finished);
  auto pid = here()->read_pid_file(process_file("p"));
  EXPECT_EQ(program(text("two")), (std::vector<std::string>{"pushB(f, alter)", "pushB(f, settle)", "wait_all()"}));
  EXPECT_TRUE(apply(text("two")).finished);
  EXPECT_EQ(*here()->read(dir + "/f"), "two");
  EXPECT_EQ((*here()->read_pid_file(process_file("p")))->pid, (*pid)->pid);
  Call c(dir);
  auto removal = c.deployer->prepare_removal("s");
  ASSERT_TRUE(removal) << c.trouble();
  EXPECT_TRUE(c.deployer->check(*removal).safe);
  EXPECT_TRUE(c.deployer->run(*removal, c.settings).finished);
  EXPECT_FALSE(fs::exists(dir + "/f"));
  EXPECT_FALSE(*here()->alive(**pid));
}

TEST_F(Deploy, UsersAreInterruptedAndComeBack) {
  auto text = [&](int n) {
    return "system: s\ncomponents:\n  db: {type: process, config: {command: sleep 100" + std::to_string(n) +
           "}}\n  app: {type: process, uses: {db: db}, config: {command: sleep 2000}}\n  web: {type: process, uses: "
           "{app: app}, config: {command: sleep 3000}}\n";
  };
  EXPECT_TRUE(apply(text(1)).finished);
  auto p = program(text(2));
  for (const char* line : {"pushB(db, undeploy)", "pushB(app, undeploy)", "pushB(web, undeploy)", "pushB(web, deploy)"})
    EXPECT_TRUE(has(p, line)) << line;
  EXPECT_TRUE(apply(text(2)).finished);
  Call c(dir);
  auto removal = c.deployer->prepare_removal("s");
  EXPECT_TRUE(c.deployer->run(*removal, c.settings).finished);
}

TEST_F(Deploy, WhoComesAfterAnotherDoesNotWaitForItOnTheWayDown) {
  EXPECT_TRUE(apply("system: s\ncomponents:\n  a: {type: process, config: {command: sleep 1000}}\n  b: {type: process, "
                    "after: [a], "
                    "config: {command: sleep 2000}}\n")
                  .finished);
  Call c(dir);
  auto removal = c.deployer->prepare_removal("s");
  Check check = c.deployer->check(*removal);
  EXPECT_TRUE(check.safe) << (check.trouble.empty() ? "" : check.trouble[0]);
  EXPECT_TRUE(c.deployer->run(*removal, c.settings).finished);
}

TEST_F(Deploy, WhoRefersToAValueThatChangedIsPlannedAgain) {
  auto text = [&](const std::string& word) {
    return "system: s\ncomponents:\n  gen: {type: generic, config: {make: \"echo tutti:word=" + word +
           "\"}}\n  f: {type: file, config: {path: " + dir + "/f, content: \"${gen.word}\"}}\n";
  };
  EXPECT_TRUE(apply(text("one")).finished);
  Call c(dir);
  auto p = c.prepare(text("two"));
  ASSERT_TRUE(p);
  ASSERT_EQ(p->plan.notes.size(), 1u);
  EXPECT_EQ(p->plan.notes[0], "`f` may change too, in a run that follows: it refers to `gen.word`");
  EXPECT_TRUE(c.deployer->run(*p, c.settings).finished);
  EXPECT_EQ(*here()->read(dir + "/f"), "one");
  // Whoever makes the next plan finds it, also when the call that should have gone on was killed.
  EXPECT_EQ(program(text("two")), (std::vector<std::string>{"pushB(f, alter)", "pushB(f, settle)", "wait_all()"}));
  bool wrong = false;
  auto next = c.deployer->follow_up("s", p->wanted, p->plan.flat, wrong);
  ASSERT_TRUE(next) << c.trouble();
  EXPECT_EQ(next->renewed, std::vector<std::string>{"f"});
  EXPECT_TRUE(c.deployer->run(*next, c.settings).finished);
  EXPECT_EQ(*here()->read(dir + "/f"), "two");
  EXPECT_FALSE(c.deployer->follow_up("s", p->wanted, p->plan.flat, wrong));
  EXPECT_FALSE(wrong);
}

TEST_F(Deploy, WhatIsThereAlreadyGivesItsOutputsToo) {
  auto text = [&](const std::string& word, const std::string& more = "") {
    std::string out = dir + "/out/" + word;
    return "system: s\ncomponents:\n  gen: {type: generic, config: {make: \"mkdir " + out + more +
           "; echo tutti:word=" + word + "\", check: \"test -d " + out + " && echo tutti:word=" + word +
           "\"}}\n  f: {type: file, config: {path: " + dir + "/f, content: \"${gen.word}\"}}\n";
  };
  fs::create_directory(dir + "/out/one");
  EXPECT_EQ(apply(text("one")).changed, 1u);  // only the file
  EXPECT_EQ(*here()->read(dir + "/f"), "one");
  // Killed after it was done and before that was written down: its check says so, and what it gives.
  EXPECT_TRUE(killed_once(dir + "/out/two", [&] { apply(text("two", "; sleep 30")); }));
  Call c(dir);
  i64 run = c.deployer->unfinished("s");
  EXPECT_TRUE(c.deployer->resume(run, c.settings).finished);
  EXPECT_EQ(c.deployer->recorded("s")->components.at("gen").outputs.at("word"), "two");
  EXPECT_TRUE(apply(text("two", "; sleep 30")).finished);
  EXPECT_EQ(*here()->read(dir + "/f"), "two");
}

TEST_F(Deploy, ForgettingThatWasCutOffIsTakenUpAgain) {
  EXPECT_TRUE(apply("system: s\ncomponents:\n" + job("a") + job("b")).finished);
  i64 run = 0;
  {
    Call c(dir);  // as far as a call that was killed before it wrote the new state had come
    store::RunRecord record;
    record.system = "s";
    record.kind = kForgetRun;
    record.base_serial = 1;
    record.plan = R"({"forget": ["a"], "hosts": []})";
    auto lease = c.record->store->acquire("s", store::this_process("test"), 30);
    ASSERT_TRUE(lease);
    run = *c.record->store->begin(*lease, record);
    ASSERT_TRUE(c.record->store->release(*lease));
  }
  Call c(dir);
  EXPECT_EQ(c.deployer->unfinished("s"), run);
  EXPECT_EQ(c.deployer->resume(run, c.settings).summary, "1 forgotten");
  auto left = c.deployer->recorded("s");
  EXPECT_EQ(left->order, std::vector<std::string>{"b"});
  EXPECT_EQ(c.deployer->unfinished("s"), 0);
  EXPECT_TRUE(done("a"));  // nothing was done to it
}

TEST_F(Deploy, WhatIsNoLongerUsedIsThereUntilItsUserHasChanged) {
  auto text = [&](const std::string& uses, const std::string& start, bool db) {
    std::string log = " >> " + dir + "/log";
    return "system: s\ncomponents:\n  app: {type: command, " + uses + "config: {start: echo " + start + log +
           ", stop: echo down" + log + "}}\n" +
           (db ? "  db: {type: command, config: {start: 'true', stop: echo db" + log + "}}\n" : "");
  };
  EXPECT_TRUE(apply(text("uses: {db: db}, ", "one", true)).finished);
  // Nothing but the need goes: nobody is touched.
  EXPECT_EQ(program(text("", "one", true)), (std::vector<std::string>{"wait_all()"}));
  EXPECT_TRUE(apply(text("", "two", false)).finished);
  EXPECT_EQ(*here()->read(dir + "/log"), "one\ndown\ntwo\ndb\n");
}

TEST_F(Deploy, WithAnInvariantServersAreChangedOneAfterTheOther) {
  auto text = [&](int n) {
    std::string t = "system: s\ninvariants: [{at_least: 2, of: [a*]}]\ncomponents:\n";
    for (int i = 1; i <= 3; ++i)
      t += "  a" + std::to_string(i) + ": {type: process, config: {command: sleep 100" + std::to_string(n) + "}}\n";
    return t;
  };
  EXPECT_TRUE(apply(text(1)).finished);
  Call c(dir);
  auto p = c.prepare(text(2));
  ASSERT_TRUE(p);
  Check check = c.deployer->check(*p);
  EXPECT_TRUE(check.safe);
  ASSERT_EQ(check.verdicts.size(), 1u);
  EXPECT_EQ(check.verdicts[0].substr(0, 16), "holds throughout");
  EXPECT_TRUE(c.deployer->run(*p, c.settings).finished);
  // Without the rolling order it would not hold: three at once.
  Call d(dir);
  auto removal = d.deployer->prepare_removal("s");
  EXPECT_TRUE(d.deployer->run(*removal, d.settings).finished);
}

TEST_F(Deploy, OneMoreServerThatIsNotUpYetDoesNotLetTwoGoAtOnce) {
  auto text = [&](int version, int servers) {
    std::string t = "system: s\ninvariants: [{at_least: 1, of: [a*]}]\ncomponents:\n";
    for (int i = 1; i <= servers; ++i)
      t += fmt::format("  a{}: {{type: command, config: {{start: echo {}, stop: 'true'}}}}\n", i, version);
    return t;
  };
  EXPECT_TRUE(apply(text(1, 2)).finished);
  EXPECT_TRUE(apply(text(2, 3)).finished);  // checked to be safe there
  // With none to spare the old ones wait for the new one.
  std::string one = text(2, 3);
  one.replace(one.find("at_least: 1"), 11, "at_least: 3");
  Call c(dir);
  auto p = c.prepare(one.replace(one.find("echo 2"), 6, "echo 3") +
                     "  a4: {type: command, config: {start: echo 3, stop: 'true'}}\n");
  ASSERT_TRUE(p) << c.trouble();
  Check check = c.deployer->check(*p);
  EXPECT_TRUE(check.safe);
  ASSERT_EQ(check.verdicts.size(), 1u);
  EXPECT_EQ(check.verdicts[0].substr(0, 16), "holds throughout");
}

TEST_F(Deploy, SecretsInWhatWasMadeAreSealedToo) {
  std::string text =
      "system: s\ncomponents:\n  a: {type: job, config: {command: 'echo \"tutti:word=$WORD\"', repeatable: true, "
      "secrets: {WORD: CANARY-3c7}}}\n  b: {type: generic, after: [a], config: {make: \"echo ${'a.word} > "
      "/dev/null\"}}\n";
  EXPECT_TRUE(apply(text).finished);
  for (auto& f : fs::recursive_directory_iterator(dir + "/.tutti"))
    if (f.is_regular_file()) {
      EXPECT_EQ(here()->read(f.path())->find("CANARY-3c7"), std::string::npos) << f.path();
    }
  Call c(dir);
  auto state = c.deployer->recorded("s");
  ASSERT_TRUE(state);
  const Entry* make = state->components.at("b").made.find("make");
  ASSERT_TRUE(make);
  EXPECT_EQ(make->value.text(), "echo 'CANARY-3c7' > /dev/null");
  EXPECT_TRUE(make->value.secret());
}

TEST_F(Deploy, AFailureStopsWhatDependsOnItAndIsRepairedByTheNextRun) {
  auto text = [&](const std::string& command) {
    return "system: s\ncomponents:\n  bad: {type: generic, config: {make: '" + command + "', check: test -e " + dir +
           "/ok}}\n" + job("after", "    uses: {bad: bad}\n") + job("beside");
  };
  Outcome o = apply(text("false"));
  EXPECT_FALSE(o.finished);
  EXPECT_EQ(o.failed, 1u);
  EXPECT_TRUE(done("beside"));
  EXPECT_FALSE(done("after"));
  o = apply(text("touch " + dir + "/ok"));
  EXPECT_TRUE(o.finished);
  EXPECT_TRUE(done("after"));
}

// A store in which the end of a run cannot be written.
class NoEnd : public store::Store {
 public:
  explicit NoEnd(std::unique_ptr<store::Store> s) : s_(std::move(s)) {}
  Result<std::vector<std::string>> systems() override { return s_->systems(); }
  Result<std::optional<store::SystemRecord>> system(const std::string& n) override { return s_->system(n); }
  Result<store::Lease> acquire(const std::string& n, const store::Holder& h, double t) override {
    return s_->acquire(n, h, t);
  }
  Result<void> renew(const store::Lease& l) override { return s_->renew(l); }
  Result<void> release(const store::Lease& l) override { return s_->release(l); }
  Result<std::optional<store::LockInfo>> lock(const std::string& n) override { return s_->lock(n); }
  Result<std::optional<store::LockInfo>> break_lock(const std::string& n) override { return s_->break_lock(n); }
  Result<i64> begin(const store::Lease& l, const store::RunRecord& r) override { return s_->begin(l, r); }
  Result<void> append(const store::Lease& l, i64 r, std::span<const store::Entry> e) override {
    return s_->append(l, r, e);
  }
  Result<void> finish(const store::Lease&, i64, const std::string&, const std::string&,
                      const std::optional<std::string>&) override {
    return failure("disk I/O error", EIO);
  }
  Result<void> reopen(const store::Lease& l, i64 r) override { return s_->reopen(l, r); }
  Result<std::vector<store::RunRecord>> runs(const std::string& n, std::size_t most) override {
    return s_->runs(n, most);
  }
  Result<std::optional<store::RunRecord>> run(i64 r) override { return s_->run(r); }
  Result<std::string> mark(i64 r) override { return s_->mark(r); }
  Result<std::vector<store::Entry>> entries(i64 r) override { return s_->entries(r); }
  Result<void> learn(std::span<const std::pair<std::string, double>> d) override { return s_->learn(d); }
  Result<std::map<std::string, store::Learnt>> learnt() override { return s_->learnt(); }
  Result<void> holds(const store::Lease& l) override { return s_->holds(l); }
  Result<std::size_t> prune(const store::Lease& l, std::span<const i64> r) override { return s_->prune(l, r); }
  std::string damage() override { return s_->damage(); }
  std::string fact(const std::string& k) override { return s_->fact(k); }
  Result<void> set_fact(const std::string& k, const std::string& v) override { return s_->set_fact(k, v); }

 private:
  std::unique_ptr<store::Store> s_;
};

TEST_F(Deploy, ARunWhoseEndCannotBeWrittenIsOpen) {
  std::string text = "system: s\ncomponents:\n" + job("a");
  {
    Call c(dir);
    c.record->store = std::make_unique<NoEnd>(std::move(c.record->store));
    auto p = c.prepare(text);
    ASSERT_TRUE(p) << c.trouble();
    Outcome o = c.deployer->run(*p, c.settings);
    EXPECT_EQ(o.wrong, "disk I/O error");
    EXPECT_TRUE(o.open);  // and not "nothing was changed"
  }
  Call c(dir);
  EXPECT_EQ(c.deployer->unfinished("s"), 1);
  EXPECT_TRUE(c.deployer->resume(1, c.settings).good());
  EXPECT_TRUE(done("a"));
}

// The power may go as soon as the end of an action is written: what it did is on disk before.
TEST_F(Deploy, TheEndOfAnActionIsWrittenWhenWhatItDidIsOnDisk) {
  Call c(dir);
  auto p = c.prepare("system: s\ncomponents:\n" + job("a"));
  ASSERT_TRUE(p) << c.trouble();
  store::Store& store = *c.record->store;
  auto lease = store.acquire("s", store::this_process("test"), 30);
  store::RunRecord record;
  record.system = "s";
  auto run = store.begin(*lease, record);
  const model::System& s = p->program.system;
  resource::Scrubber scrub(p->plan.flat);
  StoreJournal journal(store, *lease, *run, s, {*c.record->seal, scrub});
  u32 asked = 0, written_before = 0;
  Result<void> disk;
  journal.flush = [&](Symbol) {
    ++asked;
    auto entries = *store.entries(*run);  // a name of its own: it must outlive the loop
    for (auto& e : entries) written_before += e.kind == store::Entry::Kind::kEnd;
    return disk;
  };
  std::string why;
  journal.on_broken = [&](const Failure& f) { why = f.message; };
  auto& type = s.type_of(0);
  u32 perform = 0;
  while (type.transitions[perform].name.text() != "perform") ++perform;
  engine::ActionRequest request;
  request.transition = perform;
  request.action = &type.action_of(type.transitions[perform]);
  EXPECT_TRUE(journal.starting(0, {&request, 1}));
  EXPECT_EQ(asked, 0u);
  engine::ActionResult result;
  result.transition = perform;
  journal.ended(0, {&result, 1});
  journal.settle();
  EXPECT_EQ(asked, 1u);
  EXPECT_EQ(written_before, 0u);
  EXPECT_EQ(store.entries(*run)->size(), 2u);
  disk = failure("no disk");
  journal.ended(0, {&result, 1});
  journal.settle();
  EXPECT_EQ(why, "no disk");
  EXPECT_EQ(store.entries(*run)->size(), 2u);
}

TEST_F(Deploy, AStalePlanIsRefused) {
  Call c(dir);
  auto p = c.prepare("system: s\ncomponents:\n" + job("a"));
  std::string saved = c.deployer->save(*p);
  EXPECT_TRUE(apply("system: s\ncomponents:\n" + job("b")).finished);
  EXPECT_EQ(c.deployer->run(*p, c.settings).wrong_code, store::kStale);
  Call d(dir);
  EXPECT_FALSE(d.deployer->load(saved, "x.plan"));
  EXPECT_NE(d.trouble().find("PLAN-STALE"), std::string::npos);
}

TEST_F(Deploy, ASavedPlanThatWasAlteredIsRefused) {
  Call c(dir);
  auto p = c.prepare("system: s\ncomponents:\n" + job("a"));
  std::string saved = c.deployer->save(*p);
  EXPECT_TRUE(c.deployer->load(saved, "x.plan"));
  EXPECT_TRUE(is_saved_plan(saved));
  for (std::size_t at = saved.find("mkdir"); at != std::string::npos; at = saved.find("mkdir", at + 1)) {
    std::string altered = saved;
    altered.replace(at, 5, "rmdir");
    EXPECT_FALSE(c.deployer->load(altered, "x.plan")) << at;
  }
  EXPECT_FALSE(c.deployer->load(saved.substr(0, 30), "x.plan"));
}

TEST_F(Deploy, SecretsAreNowhereInTheClear) {
  std::string text =
      "system: s\ncomponents:\n  j: {type: job, config: {command: 'test \"$WORD\" = CANARY-7f3 && touch " + dir +
      "/ok', secrets: {WORD: CANARY-7f3}}}\n";
  Call c(dir);
  auto p = c.prepare(text);
  ASSERT_TRUE(p) << c.trouble();
  EXPECT_TRUE(c.deployer->run(*p, c.settings).finished);
  EXPECT_TRUE(fs::exists(dir + "/ok"));
  // The command itself names it above, which is the user's own doing; look for the value of the secret only.
  Call d(dir);
  auto again = d.prepare(
      "system: s\ncomponents:\n  k: {type: job, config: {command: 'test -n \"$WORD\"', secrets: {WORD: "
      "CANARY-9a1}}}\n");
  std::string saved = d.deployer->save(*again);
  EXPECT_EQ(saved.find("CANARY-9a1"), std::string::npos);
  EXPECT_TRUE(d.deployer->run(*again, d.settings).finished);
  for (auto& f : fs::recursive_directory_iterator(dir + "/.tutti")) {
    if (!f.is_regular_file()) continue;
    EXPECT_EQ(here()->read(f.path())->find("CANARY-9a1"), std::string::npos) << f.path();
  }
  Call e(dir);  // and it can be opened again
  auto state = e.deployer->recorded("s");
  ASSERT_TRUE(state);
  const Entry* secrets = state->components.at("k").config.find("secrets");
  ASSERT_TRUE(secrets);
  EXPECT_EQ(secrets->value.find("WORD")->value.text(), "CANARY-9a1");
  EXPECT_TRUE(secrets->value.secret());
}

TEST_F(Deploy, OutputsFlowToWhoRefersToThem) {
  std::string text =
      "system: s\ncomponents:\n  a: {type: job, config: {command: 'echo tutti:word=hello', repeatable: true}}\n"
      "  b: {type: file, after: [a], config: {path: " +
      dir + "/b, content: 'it is ${a.word}'}}\n";
  EXPECT_TRUE(apply(text).finished);
  EXPECT_EQ(*here()->read(dir + "/b"), "it is hello");
}

TEST_F(Deploy, WhatASettingRefersToArrivesWhereTheSettingIsReferredTo) {
  std::string text =
      "system: s\ncomponents:\n  a: {type: generic, config: {make: 'echo tutti:word=hello'}}\n"
      "  b: {type: generic, config: {in: '${a.word}', via: '<${config.in}>', "
      "make: \"echo ${'config.via} $${x:-}. > " +
      dir + "/b\"}}\n";
  EXPECT_TRUE(apply(text).finished);
  EXPECT_EQ(*here()->read(dir + "/b"), "<hello> .\n");
}

TEST_F(Deploy, AnActionThatLacksWhatAnotherShouldHaveGivenFails) {
  auto text = [&](const std::string& make) {
    return "system: s\ntypes: {t: {extends: thing, transitions: {make: {do: [{file: {title: " + dir +
           "/t, content: '${gen.word} ${gen.other|none}'}}]}}}}\ncomponents:\n  gen: {type: generic, config: {make: " +
           make + "}}\n  a: {type: t, after: [gen]}\n";
  };
  Outcome o = apply(text("'true'"));
  ASSERT_EQ(o.failures.size(), 1u);
  EXPECT_EQ(o.failures[0], "a.make: there is no value yet for `${gen.word}`, which its action refers to");
  EXPECT_FALSE(fs::exists(dir + "/t"));
  EXPECT_TRUE(apply(text("echo tutti:word=here")).finished);
  EXPECT_TRUE(apply(text("echo tutti:word=here")).finished);
  EXPECT_EQ(*here()->read(dir + "/t"), "here none");
}

TEST_F(Deploy, TwoAtOnceTheSecondIsRefused) {
  Call c(dir);
  auto lease = c.record->store->acquire("s", store::this_process("somebody"), 30);
  ASSERT_TRUE(lease);
  Outcome o = apply("system: s\ncomponents:\n" + job("a"));
  EXPECT_EQ(o.wrong_code, store::kHeld);
  EXPECT_FALSE(done("a"));
}

// ---- killed at any moment

}  // namespace
}  // namespace tutti::deploy
