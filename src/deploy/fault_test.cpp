// A controller that is told to stop always ends, whatever tells it: a write that fails, at any place of a run, or a
// lease that somebody else has taken, with more actions ready than there are workers. And whoever takes the run up
// again finds nothing lost and nothing done twice. Each call is a process of its own, so that one that hangs is seen.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "deploy/disk_layer.h"
#include "deploy/testing.h"
#include "format/yaml.h"
#include "store/sqlite.h"

namespace tutti::deploy {
namespace {

namespace fs = std::filesystem;

constexpr int kJobs = 20;  // more than there are workers

class Faults : public InFolder {
 protected:
  enum Exit { kGood = 0, kNotGood = 3, kNotPlanned = 4 };

  // Independent jobs; each leaves a line in its file every time it is done.
  std::string jobs(const std::string& before = "") {
    std::string text = "system: s\ncomponents:\n";
    for (int i = 0; i < kJobs; ++i)
      text += fmt::format(
          "  j{0}: {{type: job, config: {{command: '{2}echo x >> {1}/out/j{0}', check: 'test -s "
          "{1}/out/j{0}'}}}}\n",
          i, dir, before);
    return text;
  }
  int apply(const std::string& text, double lease = 30) {
    if (!open_record(dir + "/.tutti")) return kNotPlanned;  // the disk refuses already
    OneCall c(dir);
    c.settings.lease = lease;
    c.settings.wait_for_lock = 60;
    auto source = c.session.sources->add("system.yaml", text);
    auto tree = read_yaml(c.session, **source);
    auto p = tree ? c.deployer->prepare(*tree, "", "apply") : std::nullopt;
    if (!p) return kNotPlanned;
    return c.deployer->run(*p, c.settings).good() ? kGood : kNotGood;
  }
  // The exit code of a process that does this; nullopt when it hangs.
  template <class Work>
  std::optional<int> ended(Work work, const std::function<void()>& meanwhile = {}) {
    pid_t child = ::fork();
    if (child == 0) {
      int null = ::open("/dev/null", O_WRONLY);
      ::dup2(null, 2);
      ::_exit(work());
    }
    if (meanwhile) meanwhile();
    for (int k = 0; k < 6000; ++k) {
      int status = 0;
      if (::waitpid(child, &status, WNOHANG) == child)
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      ::usleep(10000);
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return std::nullopt;
  }
  void await_entries(std::size_t n) {
    for (int k = 0; k < 6000; ++k) {
      OneCall c(dir);
      auto entries = c.record->store->entries(1);
      if (entries && entries->size() >= n) return;
      ::usleep(10000);
    }
    ADD_FAILURE() << "the run does not get anywhere";
  }
  void await_silence() {
    std::size_t before = 0, same = 0;
    for (int k = 0; k < 6000 && same < 20; ++k) {
      OneCall c(dir);
      auto entries = c.record->store->entries(1);
      same = entries && entries->size() == before ? same + 1 : 0;
      before = entries ? entries->size() : 0;
      ::usleep(10000);
    }
  }
  void goes_on() {
    OneCall c(dir);
    if (i64 run = c.deployer->unfinished("s")) {
      c.settings.wait_for_lock = 60;
      Outcome o = c.deployer->resume(run, c.settings);
      EXPECT_TRUE(o.finished) << o.wrong << fmt::format("{}", fmt::join(o.failures, "; "));
    } else {
      EXPECT_EQ(apply(jobs()), kGood);
    }
  }
  std::vector<std::string> done_otherwise() {
    std::vector<std::string> out;
    for (int i = 0; i < kJobs; ++i) {
      auto content = read_file(fmt::format("{}/out/j{}", dir, i), 100);
      if (!content || *content != "x\n") out.push_back(fmt::format("j{}: {}", i, content.value_or("not done")));
    }
    return out;
  }
  void begin_again() {
    fs::remove_all(dir);
    fs::create_directories(dir + "/out");
  }
};

// One write that fails, and all from there on; both as a disk that is full and as one that is broken.
TEST_F(Faults, AnyWriteThatFailsEndsTheRunAndItGoesOn) {
  std::atomic<int> changes{0};
  {
    DiskLayer count([&](const DiskEvent&) { return ++changes, SQLITE_OK; });
    ASSERT_EQ(apply(jobs()), kGood);
  }
  ASSERT_GT(changes, 30);
  const char* wish = std::getenv("TUTTI_FAULT_POINTS");
  int points = wish ? std::atoi(wish) : 40, not_good = 0;
  for (int k = 0; k < points; ++k) {
    int at = 1 + static_cast<int>(i64{k} * changes / points);
    bool for_ever = k % 2, full = k % 4 < 2;
    begin_again();
    auto code = ended([&] {
      std::atomic<int> n{0};
      DiskLayer failing([&](const DiskEvent& e) {
        int mine = ++n;
        bool now = for_ever ? mine >= at : mine == at;
        int how = e.kind == DiskEvent::Kind::kSync ? SQLITE_IOERR_FSYNC : full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
        return now ? how : SQLITE_OK;
      });
      return apply(jobs());
    });
    ASSERT_TRUE(code) << "hangs when change " << at << " of the disk fails";
    not_good += *code != kGood;
    goes_on();
    EXPECT_EQ(done_otherwise(), std::vector<std::string>{}) << "change " << at << " failed";
  }
  EXPECT_GT(not_good, 0);
}

TEST_F(Faults, ALeaseThatIsTakenAwayEndsTheRunAndAllThatItRuns) {
  auto code = ended([&] { return apply(jobs("exec sleep 600; "), 1); },
                    [&] {
                      await_entries(kJobs);
                      store::Database db;
                      ASSERT_TRUE(db.open(dir + "/.tutti/state.db"));
                      ASSERT_TRUE(db.execute("UPDATE lock SET fence = fence + 1"));
                    });
  ASSERT_TRUE(code) << "hangs without its lease";
  EXPECT_EQ(*code, kNotGood);
  EXPECT_EQ(done_otherwise().size(), static_cast<std::size_t>(kJobs));
}

// Nobody has taken it: but nobody can know that who cannot write.
TEST_F(Faults, ALeaseThatCannotBeRenewedEndsTheRunWhenItIsOver) {
  std::string broken = dir + "/broken";
  auto code = ended(
      [&] {
        DiskLayer failing([&](const DiskEvent&) { return fs::exists(broken) ? SQLITE_IOERR_WRITE : SQLITE_OK; });
        return apply(jobs("exec sleep 600; "), 1);
      },
      [&] {
        await_entries(kJobs);
        await_silence();  // nothing is written until an action ends: what fails is the renewal
        ASSERT_TRUE(write_file_atomically(broken, ""));
      });
  ASSERT_TRUE(code) << "goes on without its lease";
  EXPECT_EQ(*code, kNotGood);
}

// Stopped at any write of its run, with the database's locks in its hands or not, and longer than its lease: whoever
// takes it over does not wait for it, and it does nothing any more.
TEST_F(Faults, AControllerThatIsPausedIsTakenOverAndEnded) {
  const char* wish = std::getenv("TUTTI_FAULT_POINTS");
  int rounds = wish ? std::atoi(wish) : 8, stopped = 0;
  for (int k = 0; k < rounds; ++k) {
    begin_again();
    pid_t child = ::fork();
    if (child == 0) {
      int null = ::open("/dev/null", O_WRONLY);
      ::dup2(null, 2);
      std::atomic<int> syncs{0};  // the first two are those of the lease
      if (!open_record(dir + "/.tutti")) ::_exit(kNotPlanned);
      DiskLayer layer([&](const DiskEvent& e) {
        if (e.kind == DiskEvent::Kind::kSync && ++syncs == 3 + k) ::raise(SIGSTOP);
        return SQLITE_OK;
      });
      ::_exit(apply(jobs(), 1));
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
    if (WIFSTOPPED(status)) {
      ++stopped;
      goes_on();
      ::kill(child, SIGCONT);
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    EXPECT_EQ(done_otherwise(), std::vector<std::string>{}) << "stopped at sync " << 3 + k;
  }
  EXPECT_GT(stopped, 0);
}

// In another container, where nobody can end it: it wakes when its run has been taken over, and acts on nothing.
TEST_F(Faults, AControllerThatNobodySeesDoesNothingWhenItWakes) {
  for (useconds_t after : {1000, 30000, 60000, 90000}) {
    begin_again();
    pid_t child = ::fork();
    if (child == 0) {
      int null = ::open("/dev/null", O_WRONLY);
      ::dup2(null, 2);
      ::_exit(apply(jobs("sleep 0.05; "), 1));
    }
    await_entries(1);
    ::usleep(after);
    bool ran = false;
    int status = 0;
    store::Database db;
    ASSERT_TRUE(db.open(dir + "/.tutti/state.db"));
    ASSERT_TRUE(db.execute("PRAGMA busy_timeout=0"));
    for (;;) {  // not in the middle of a commit: nobody could take over then
      ::kill(child, SIGSTOP);
      ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
      ran = WIFSTOPPED(status);
      if (!ran || db.execute("UPDATE lock SET boot = 'another'")) break;
      ::kill(child, SIGCONT);
      ::usleep(1000);
    }
    goes_on();
    if (ran) {
      ::kill(child, SIGCONT);
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status)) << "whoever cannot be seen is not ended";
    }
    EXPECT_EQ(done_otherwise(), std::vector<std::string>{}) << "stopped after " << after << " us";
  }
}

}  // namespace
}  // namespace tutti::deploy
