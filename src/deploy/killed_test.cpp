// A controller that is killed in the middle of a run: nothing is lost, and nothing is done twice.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "deploy/testing.h"

namespace tutti::deploy {
namespace {

namespace fs = std::filesystem;

class Killed : public Deploy {
 protected:
  // Several layers with things side by side; each job fails when it is done twice.
  std::string system() {
    std::string t = "system: s\ncomponents:\n";
    for (int layer = 0; layer < 3; ++layer)
      for (int i = 0; i < 3; ++i) {
        std::string name = "j" + std::to_string(layer) + std::to_string(i), after;
        if (layer)
          after = "    uses: {x: j" + std::to_string(layer - 1) + std::to_string(i) + ", y: j" +
                  std::to_string(layer - 1) + std::to_string((i + 1) % 3) + "}\n";
        t += job(name, after);
      }
    t += "  f: {type: file, after: [j00], config: {path: " + dir + "/out/f, content: hello}}\n";
    return t;
  }
};

TEST_F(Killed, AtRandomMomentsNothingIsLostAndNothingDoneTwice) {
  const char* wish = std::getenv("TUTTI_KILL_POINTS");
  int points = wish ? std::atoi(wish) : 10, cut = 0, again = 0;
  std::mt19937 random(7);
  auto began = std::chrono::steady_clock::now();
  {
    Call c(dir);
    auto p = c.prepare(system());
    EXPECT_TRUE(c.deployer->run(*p, c.settings).finished);
  }
  auto whole = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began).count();
  for (int k = 0; k < points; ++k) {
    fs::remove_all(dir);
    fs::create_directories(dir + "/out");
    std::string text = system();
    bool killed = killed_after(static_cast<useconds_t>(random() % static_cast<u64>(whole)), [&] {
      Call c(dir);
      auto p = c.prepare(text);
      c.deployer->run(*p, c.settings);
    });
    cut += killed;
    // Killed again while resuming, now and then.
    i64 run = Call(dir).deployer->unfinished("s");
    if (run && random() % 3 == 0)
      again += killed_after(static_cast<useconds_t>(random() % static_cast<u64>(whole / 2 + 1)), [&] {
        Call c(dir);
        c.deployer->resume(run, c.settings);
      });
    Call c(dir);
    run = c.deployer->unfinished("s");
    if (run) {
      Outcome o = c.deployer->resume(run, c.settings);
      ASSERT_TRUE(o.finished) << "kill point " << k << ": " << o.wrong << (o.failures.empty() ? "" : o.failures[0]);
    } else if (killed) {
      // Before the run was written down, or after it had ended.
      Outcome o = apply(text);
      ASSERT_TRUE(o.wrong.empty()) << o.wrong;
    }
    for (auto name : {"j00", "j01", "j02", "j10", "j11", "j12", "j20", "j21", "j22"})
      ASSERT_TRUE(done(name)) << "kill point " << k << ": " << name;
    ASSERT_TRUE(fs::exists(dir + "/out/f"));
    ASSERT_EQ(program(text).size(), 1u) << "kill point " << k;
  }
  std::printf("%d runs, %d cut off, %d of them again while resuming\n", points, cut, again);
}

TEST_F(Killed, WhatWasBeingWrittenBesideAFileIsTakenAway) {
  std::string file = dir + "/f", seen = dir + "/seen";
  for (bool stop : {false, true}) {
    std::string text = "system: s\ncomponents:\n  f: {type: file, config: {path: " + file +
                       ", content: x, validate_cmd: 'test -e % && { test -e " + seen + " || { touch " + seen +
                       "; sleep 30; }; }'}}\n";
    EXPECT_TRUE(killed_once(seen, [&] { apply(text); }));
    EXPECT_TRUE(fs::exists(file + ".tutti-check"));
    ASSERT_TRUE(here()->write(file + std::string(kUnfinished), "ha", 0600));
    Call c(dir);
    c.settings.give_up = stop;
    c.deployer->resume(c.deployer->unfinished("s"), c.settings);
    EXPECT_FALSE(fs::exists(file + ".tutti-check"));
    EXPECT_FALSE(fs::exists(file + std::string(kUnfinished)));
    EXPECT_EQ(fs::exists(file), !stop);
    fs::remove_all(dir);
    fs::create_directories(dir + "/out");
  }
}

TEST_F(Killed, AnActionWhoseResultCannotBeSeenIsNotRepeatedUnasked) {
  std::string text =
      "system: s\ncomponents:\n  j: {type: job, config: {command: 'echo x >> " + dir + "/log; sleep 5'}}\n";
  EXPECT_TRUE(killed_once(dir + "/log", [&] {
    Call c(dir);
    auto p = c.prepare(text);
    c.deployer->run(*p, c.settings);
  }));
  for (int i = 0; i < 2; ++i) {
    Call c(dir);
    Outcome o = c.deployer->resume(c.deployer->unfinished("s"), c.settings);
    EXPECT_TRUE(o.unknown);
    EXPECT_FALSE(o.finished);
  }
  EXPECT_EQ(*here()->read(dir + "/log"), "x\n");
  Call c(dir);
  c.settings.decisions["j.perform"] = "done";
  EXPECT_TRUE(c.deployer->resume(c.deployer->unfinished("s"), c.settings).finished);
  EXPECT_EQ(*here()->read(dir + "/log"), "x\n");
}

}  // namespace
}  // namespace tutti::deploy
