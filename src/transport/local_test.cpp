#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <thread>

#include "transport/host.h"
#include "transport/spawn.h"

// What is asked to be on disk, by the path it has at that moment: in place of the C library's own.
namespace {
std::mutex g_synced_mutex;
std::vector<std::string> g_synced;

void note_synced(int fd) {
  std::error_code none;
  auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), none);
  std::lock_guard lock(g_synced_mutex);
  g_synced.push_back(path.string());
}
}  // namespace

extern "C" int fsync(int fd) {
  note_synced(fd);
  return static_cast<int>(::syscall(SYS_fsync, fd));
}
extern "C" int fdatasync(int fd) {
  note_synced(fd);
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

namespace tutti {
namespace {

using std::chrono::milliseconds;

class LocalHost : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tutti-host-XXXXXX";
    dir = ::mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(dir); }
  std::unique_ptr<Host> host = here();
  std::string dir;
};

// What is in our environment (keys, an agent's socket) is not for whoever a command runs as.
TEST_F(LocalHost, AnotherUsersCommandHasThatUsersEnvironment) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ::setenv("TUTTI_TEST_TOKEN", "ours", 1);
  ::setenv("LC_TEST", "kept", 1);
  ::chmod(dir.c_str(), 0777);
  Command c;
  c.argv = {"/bin/sh", "-c", "env"};
  c.user = "daemon";
  c.environment = {{"GIVEN", "1"}};
  auto r = host->run(c);
  EXPECT_TRUE(r.ok()) << r.describe() << r.err;
  for (std::string_view there :
       {"HOME=/usr/sbin\n", "USER=daemon\n", "LOGNAME=daemon\n", "GIVEN=1\n", "LC_TEST=kept\n", "PATH="})
    EXPECT_NE(r.out.find(there), std::string::npos) << there << "\n" << r.out;
  EXPECT_EQ(r.out.find("TUTTI_TEST_TOKEN"), std::string::npos) << r.out;

  Daemon d;
  d.command = c;
  d.command.argv = {"/bin/sh", "-c", "env > " + dir + "/env; sleep 60"};
  d.pid_file = dir + "/pid";
  d.settle = milliseconds(100);
  auto started = host->start(d);
  ASSERT_TRUE(started) << started.error().message;
  for (int i = 0; i < 200 && (!host->read(dir + "/env") || host->read(dir + "/env")->empty()); ++i) ::usleep(10000);
  auto env = host->read(dir + "/env");
  ASSERT_TRUE(env);
  EXPECT_NE(env->find("HOME=/usr/sbin\n"), std::string::npos) << *env;
  EXPECT_NE(env->find("GIVEN=1\n"), std::string::npos) << *env;
  EXPECT_EQ(env->find("TUTTI_TEST_TOKEN"), std::string::npos) << *env;
  host->stop(started->identity, SIGKILL, milliseconds(1000));

  c.keeps_environment = true;  // as Puppet does
  EXPECT_NE(host->run(c).out.find("TUTTI_TEST_TOKEN=ours"), std::string::npos);
  c.keeps_environment = false;
  c.user = "root";  // nobody else
  EXPECT_NE(host->run(c).out.find("TUTTI_TEST_TOKEN=ours"), std::string::npos);
}

// Whatever the program does about SIGPIPE: who gives a command more than it reads is not ended by that.
TEST_F(LocalHost, ACommandThatDoesNotReadItsInputIsNotOurEnd) {
  auto before = std::signal(SIGPIPE, SIG_DFL);
  Command c;
  c.argv = {"/bin/sh", "-c", "exec 0<&-; sleep 0.1; echo done"};
  c.input = std::string(1 << 20, 'x');
  auto r = host->run(c);
  EXPECT_TRUE(r.ok()) << r.describe();
  EXPECT_EQ(r.out, "done\n");
  std::signal(SIGPIPE, before);
}

TEST_F(LocalHost, CommandGivesOutputErrorsAndStatus) {
  auto r = host->shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(r.end, CommandResult::End::kExited);
  EXPECT_EQ(r.code, 3);
  EXPECT_EQ(r.out, "out\n");
  EXPECT_EQ(r.err, "err\n");
}

TEST_F(LocalHost, InputEnvironmentDirectoryAndUmaskReachTheCommand) {
  Command c;
  c.argv = {"sh", "-c", "cat; echo $WORD; pwd; umask"};
  c.input = "in\n";
  c.environment = {{"WORD", "x y"}};
  c.cwd = dir;
  c.umask = 027;
  EXPECT_EQ(host->run(c).out, "in\nx y\n" + dir + "\n0027\n");
}

TEST_F(LocalHost, ContentIsOnDiskBeforeItsNameAndNamesAfterAFlush) {
  using Paths = std::vector<std::string>;
  g_synced.clear();
  ASSERT_TRUE(host->write(dir + "/f", "whole", 0640));
  EXPECT_EQ(g_synced, (Paths{dir + "/f" + std::string(kUnfinished)}));
  ASSERT_TRUE(host->make_directory(dir + "/d", 0755));
  ASSERT_TRUE(host->make_link(dir + "/d/l", "nowhere"));
  ASSERT_TRUE(host->set_mode(dir + "/f", 0600));
  g_synced.clear();
  ASSERT_TRUE(host->flush());
  EXPECT_EQ(g_synced, (Paths{dir, dir + "/d", dir + "/f"}));  // each once
  g_synced.clear();
  ASSERT_TRUE(host->flush());
  EXPECT_EQ(g_synced, Paths{});
  ASSERT_TRUE(host->rename(dir + "/f", dir + "/d/g"));
  ASSERT_TRUE(host->flush());
  EXPECT_EQ(g_synced, (Paths{dir, dir + "/d"}));
  g_synced.clear();
  ASSERT_TRUE(host->remove(dir + "/d", true));
  ASSERT_TRUE(host->flush());
  EXPECT_EQ(g_synced, (Paths{dir}));
}

TEST_F(LocalHost, WhatADeadWriterLeftIsInNobodysWay) {
  std::string path = dir + "/f", beside = path + std::string(kUnfinished);
  ASSERT_TRUE(host->write(beside, "ha", 0600));  // half of something
  ASSERT_TRUE(host->write(path, "whole", 0640));
  EXPECT_EQ(*host->read(path), "whole");
  EXPECT_FALSE(std::filesystem::exists(beside));
  std::filesystem::create_symlink("/nowhere", dir + "/l");
  std::filesystem::create_symlink("/elsewhere", dir + "/l" + std::string(kUnfinished));
  ASSERT_TRUE(host->make_link(dir + "/l", "/here"));
  EXPECT_EQ(std::filesystem::read_symlink(dir + "/l"), "/here");
  EXPECT_FALSE(std::filesystem::is_symlink(dir + "/l" + std::string(kUnfinished)));
}

TEST_F(LocalHost, SeveralWhoWriteOneFileEachWriteAllOfIt) {
  std::string path = dir + "/f";
  std::vector<std::thread> all;
  std::atomic<int> failed = 0;
  for (char c = 'a'; c < 'e'; ++c)
    all.emplace_back([&, c] {
      for (int i = 0; i < 50; ++i)
        if (!host->write(path, std::string(5000, c), 0644)) ++failed;
    });
  for (auto& t : all) t.join();
  EXPECT_EQ(failed, 0);
  std::string text = *host->read(path);
  EXPECT_EQ(text, std::string(5000, text[0]));
}

TEST_F(LocalHost, WhatCannotBeStartedSaysWhy) {
  Command c;
  c.argv = {"no-such-program-at-all"};
  EXPECT_EQ(host->run(c).end, CommandResult::End::kNotStarted);
  c.argv = {"/bin/true"};
  c.cwd = "/no/such/dir";
  auto r = host->run(c);
  EXPECT_EQ(r.end, CommandResult::End::kNotStarted);
  EXPECT_NE(r.message.find("/no/such/dir"), std::string::npos);
}

TEST_F(LocalHost, TimeoutEndsTheWholeGroup) {
  Command c;
  c.argv = {"sh", "-c", "trap '' TERM; sleep 1000 & echo $! ; wait; sleep 1000"};
  c.timeout = milliseconds(200);
  c.grace = milliseconds(100);
  auto r = host->run(c);
  EXPECT_EQ(r.end, CommandResult::End::kTimedOut);
  pid_t child = std::atoi(r.out.c_str());
  ASSERT_GT(child, 0);
  for (int i = 0; i < 200 && process_birth(child) != 0; ++i) ::usleep(10000);
  EXPECT_EQ(process_birth(child), 0u);
}

TEST_F(LocalHost, CancelEndsACommand) {
  Cancel cancel;
  std::thread t([&] {
    ::usleep(100000);
    cancel.raise();
  });
  auto r = host->shell("sleep 1000", milliseconds(0), &cancel);
  t.join();
  EXPECT_EQ(r.end, CommandResult::End::kCancelled);
}

TEST_F(LocalHost, ACommandThatLeavesSomethingRunningIsNotWaitedFor) {
  auto r = host->shell("sleep 1000 & echo $!");
  EXPECT_TRUE(r.ok());
  ::kill(std::atoi(r.out.c_str()), SIGKILL);
}

TEST_F(LocalHost, LargeOutputIsCut) {
  Command c;
  c.argv = {"sh", "-c", "head -c 100000 /dev/zero"};
  c.most_output = 1000;
  auto r = host->run(c);
  EXPECT_EQ(r.out.size(), 1000u);
  EXPECT_EQ(r.dropped, 99000u);
}

TEST_F(LocalHost, FilesAreWrittenWholeWithTheirMode) {
  std::string p = dir + "/f";
  ASSERT_TRUE(host->write(p, "hello\n", 0640));
  auto s = host->stat(p, false, true);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->kind, FileState::Kind::kFile);
  EXPECT_EQ(s->mode, 0640u);
  EXPECT_EQ(s->digest, "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
  EXPECT_EQ(*host->list(dir), std::vector<std::string>{"f"});
  ASSERT_TRUE(host->make_link(dir + "/l", "f"));
  ASSERT_TRUE(host->make_link(dir + "/l", "g"));
  EXPECT_EQ(host->stat(dir + "/l", false, false)->target, "g");
  EXPECT_EQ(host->stat(dir + "/l", true, false)->kind, FileState::Kind::kAbsent);
}

TEST_F(LocalHost, RemovingATreeDoesNotFollowLinks) {
  std::filesystem::create_directories(dir + "/t/a/b");
  std::filesystem::create_directories(dir + "/keep");
  ASSERT_TRUE(host->write(dir + "/keep/f", "x", 0644));
  ASSERT_TRUE(host->make_link(dir + "/t/a/out", dir + "/keep"));
  EXPECT_FALSE(host->remove(dir + "/t", false));
  EXPECT_TRUE(host->remove(dir + "/t", true));
  EXPECT_EQ(host->stat(dir + "/t", false, false)->kind, FileState::Kind::kAbsent);
  EXPECT_EQ(host->stat(dir + "/keep/f", false, false)->kind, FileState::Kind::kFile);
}

TEST_F(LocalHost, WhatHasLeftTheGroupOfAnActionEndsWithIt) {
  Command c;
  c.argv = {"sh", "-c",
            "setsid sh -c 'echo $$ > " + dir + "/left; exec sleep 1000' & setsid sh -c 'echo $$ > " + dir +
                "/stays; exec env -u TUTTI_ACTION sleep 1000' & sleep 1000"};
  c.environment = {{std::string(kActionMark), dir}};
  c.timeout = std::chrono::milliseconds(700);
  EXPECT_EQ(host->run(c).end, CommandResult::End::kTimedOut);
  auto running = [&](const std::string& file) {
    return host->shell("sleep 0.1; grep -q sleep /proc/$(cat " + dir + "/" + file + ")/cmdline").ok();
  };
  EXPECT_FALSE(running("left"));
  EXPECT_TRUE(running("stays"));  // it is nobody's any more, as a process that is to stay
  host->shell("kill -9 $(cat " + dir + "/stays)");
}

TEST_F(LocalHost, DaemonsAreKnownByNumberAndBirth) {
  Daemon d;
  d.command.argv = {"sh", "-c", "echo started '$x'; exec sleep 1000"};
  d.pid_file = dir + "/pid";
  d.log_file = dir + "/log";
  auto started = host->start(d);
  ASSERT_TRUE(started) << started.error().message;
  const DaemonIdentity* id = &started->identity;
  EXPECT_TRUE(*host->alive(*id));
  EXPECT_EQ(id->birth, process_birth(static_cast<pid_t>(id->pid)));
  DaemonIdentity other = *id;
  other.birth += 1;
  EXPECT_FALSE(*host->alive(other));
  ASSERT_TRUE(host->signal(other, SIGKILL));
  EXPECT_TRUE(*host->alive(*id));
  ASSERT_TRUE(host->signal(*id, SIGKILL));
  for (int i = 0; i < 200 && *host->alive(*id); ++i) ::usleep(10000);
  EXPECT_FALSE(*host->alive(*id));
}

TEST(ShellQuote, Words) {
  EXPECT_EQ(shell_quote("a-b/c.d"), "a-b/c.d");
  EXPECT_EQ(shell_quote(""), "''");
  EXPECT_EQ(shell_quote("it's $x"), "'it'\\''s $x'");
}

}  // namespace
}  // namespace tutti
