// A host of its own: a network namespace with its own sshd. Needs root, ip and sshd; skipped where they are not there.
#include "transport/ssh.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "transport/sockets.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class Ssh : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (::geteuid() != 0 || ::access("/usr/sbin/sshd", X_OK) != 0) return;
    char name[] = "/tmp/tutti-ssh-XXXXXX";
    dir = ::mkdtemp(name);
    auto local = here();
    std::string id = std::to_string(::getpid() % 10000);
    ns = "tt" + id;
    std::string script = "set -e; cd " + dir + "; ip netns add " + ns + "; ip link add tv" + id +
                         " type veth peer name eth0 netns " + ns + "; ip addr add 10.231." +
                         std::to_string(::getpid() % 250) + ".1/30 dev tv" + id + "; ip link set tv" + id +
                         " up; ip netns exec " + ns + " ip addr add 10.231." + std::to_string(::getpid() % 250) +
                         ".2/30 dev eth0; ip netns exec " + ns + " ip link set eth0 up; ip netns exec " + ns +
                         " ip link set lo up; ssh-keygen -q -t ed25519 -N '' -f key; ssh-keygen -q -t ed25519 -N '' -f "
                         "hostkey; cp key.pub authorized; mkdir -p /run/sshd;"
                         " printf 'HostKey %s/hostkey\\nAuthorizedKeysFile %s/authorized\\nPidFile "
                         "%s/sshd.pid\\nStrictModes no\\nUsePAM no\\nPermitRootLogin yes\\n"
                         "PasswordAuthentication no\\nMaxSessions 100\\n' " +
                         dir + " " + dir + " " + dir + " > config; ip netns exec " + ns + " /usr/sbin/sshd -f " + dir +
                         "/config -E " + dir + "/sshd.log";
    auto r = local->shell(script, milliseconds(30000));
    if (!r.ok()) {
      std::printf("%s\n", r.err.c_str());
      return;
    }
    target.name = "other";
    target.destination = "root@10.231." + std::to_string(::getpid() % 250) + ".2";
    target.identity = dir + "/key";
    target.options = {"StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR"};
    target.alive = 1;
    std::string address = target.destination.substr(5);
    for (int i = 0; i < 200 && !local->connects(address, 22, milliseconds(100)); ++i) ::usleep(50000);
    ready = true;
  }
  static void TearDownTestSuite() {
    host.reset();
    if (!dir.empty())
      here()->shell("kill $(cat " + dir + "/sshd.pid); ip netns pids " + ns + " | xargs -r kill -9; ip netns del " +
                        ns + "; rm -rf " + dir,
                    milliseconds(10000));
  }
  void SetUp() override {
    if (!ready) GTEST_SKIP() << "needs root, ip and sshd";
    if (!host) host = ssh(target);
    fs::create_directories(dir + "/w");
  }
  static inline bool ready = false;
  static inline std::string dir, ns;
  static inline SshTarget target;
  static inline std::unique_ptr<Host> host;
};

TEST_F(Ssh, CommandsGiveOutputErrorsAndStatus) {
  auto r = host->shell("echo out; echo err >&2; exit 3");
  ASSERT_EQ(r.end, CommandResult::End::kExited) << r.describe();
  EXPECT_EQ(r.code, 3);
  EXPECT_EQ(r.out, "out\n");
  EXPECT_EQ(r.err, "err\n");
  EXPECT_EQ(host->shell("exit 255").code, 255);                                               // not a lost connection
  EXPECT_NE(host->shell("ip -o addr show dev eth0").out.find("10.231."), std::string::npos);  // it is over there
}

// What it leaves behind keeps its streams open; it has ended all the same.
TEST_F(Ssh, WhoStaysBehindIsNotWaitedFor) {
  auto r = host->shell("sleep 98761 & echo started; echo told >&2; exit 4", milliseconds(60000));
  EXPECT_EQ(r.end, CommandResult::End::kExited) << r.describe();
  EXPECT_EQ(r.code, 4);
  EXPECT_EQ(r.out, "started\n");
  EXPECT_EQ(r.err, "told\n");
  EXPECT_TRUE(host->shell("pkill -fx 'sleep 98761'").ok());
}

TEST_F(Ssh, MoreOutputThanIsKeptIsNoLostConnection) {
  Command c;
  c.argv = {"sh", "-c", "yes | head -c 300000; yes no | head -c 300000 >&2; exit 5"};
  c.most_output = 1000;
  auto r = host->run(c);
  EXPECT_EQ(r.end, CommandResult::End::kExited) << r.describe();
  EXPECT_EQ(r.code, 5);
  EXPECT_EQ(r.out.size(), 1000u);
  EXPECT_EQ(r.err.size(), 1000u);
}

TEST_F(Ssh, WhatSshSaysBeforehandIsNoLastLine) {
  SshTarget loud = target;
  loud.options = {"StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=INFO", "ControlMaster=no",
                  "ControlPath=none"};
  auto other = ssh(loud);
  for (int code : {0, 1, 7}) {
    auto r = other->shell("exit " + std::to_string(code));
    EXPECT_EQ(r.end, CommandResult::End::kExited) << r.describe();
    EXPECT_EQ(r.code, code) << r.err;
  }
}

TEST_F(Ssh, SecretsAreInNoArgumentList) {
  Command c;
  c.argv = {"sh", "-c",
            "cat; echo $WORD; tr '\\0' ' ' < /proc/$PPID/cmdline; cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -c "
            "'CANARY-in-[e]nv'"};
  c.environment = {{"WORD", "CANARY-in-env"}};
  c.input = "the input\n";
  c.cwd = dir;
  auto r = host->run(c);
  EXPECT_EQ(r.out.substr(0, 24), "the input\nCANARY-in-env\n") << r.out << r.err;
  // The pattern does not match itself, so that those who look do not find themselves.
  EXPECT_EQ(r.out.substr(r.out.size() - 2), "0\n") << r.out;
}

TEST_F(Ssh, FilesAsHere) {
  std::string p = dir + "/w/a file";
  ASSERT_TRUE(host->write(p, std::string("hello\0there\n", 12), 0640));
  auto s = host->stat(p, false, true);
  ASSERT_TRUE(s) << s.error().message;
  auto mine = here()->stat(p, false, true);
  EXPECT_EQ(s->mode, 0640u);
  EXPECT_EQ(s->digest, mine->digest);
  EXPECT_EQ(s->owner, mine->owner);
  EXPECT_EQ(*host->read(p), std::string("hello\0there\n", 12));
  ASSERT_TRUE(host->make_link(dir + "/w/l", "a file"));
  EXPECT_EQ(host->stat(dir + "/w/l", false, false)->target, "a file");
  EXPECT_EQ(host->list(dir + "/w")->size(), 2u);
  EXPECT_EQ(host->stat(dir + "/w/none", false, true)->kind, FileState::Kind::kAbsent);
  ASSERT_TRUE(host->remove(dir + "/w", true));
  EXPECT_EQ(host->stat(dir + "/w", false, false)->kind, FileState::Kind::kAbsent);
  EXPECT_FALSE(host->read(dir + "/w/none"));
}

TEST_F(Ssh, ATimeoutLeavesNothingRunning) {
  Command c;
  c.argv = {"sh", "-c", "sleep 987654 & sleep 987655"};
  c.timeout = milliseconds(500);
  c.grace = milliseconds(100);
  EXPECT_EQ(host->run(c).end, CommandResult::End::kTimedOut);
  for (int i = 0; i < 100 && host->shell("pgrep -f 'sleep 98765[45]' | grep -v $$").ok(); ++i) ::usleep(50000);
  EXPECT_EQ(here()->shell("pgrep -x sleep -a | grep 98765").out, "");
}

TEST_F(Ssh, DaemonsAsHere) {
  Daemon d;
  d.command.argv = {"sleep", "1000"};
  d.pid_file = dir + "/w/pid";
  d.log_file = dir + "/w/log";
  d.tag = "t1";
  auto started = host->start(d);
  ASSERT_TRUE(started) << started.error().message;
  const DaemonIdentity* id = &started->identity;
  EXPECT_TRUE(*host->alive(*id));
  EXPECT_EQ((*host->read_pid_file(d.pid_file))->tag, "t1");
  EXPECT_TRUE(host->standing(d.pid_file)->alive);
  EXPECT_EQ(host->standing(d.pid_file)->known->pid, id->pid);
  EXPECT_FALSE(host->standing(dir + "/w/none")->known);
  EXPECT_EQ(*host->stop(*id, SIGTERM, std::chrono::milliseconds(5000)), Host::Stopped::kGone);
  EXPECT_FALSE(*host->alive(*id));
  EXPECT_FALSE(host->standing(d.pid_file)->alive);
  d.command.argv = {"sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"};
  d.settle = std::chrono::milliseconds(200);
  started = host->start(d);
  ASSERT_TRUE(started && !started->ended);
  EXPECT_EQ(*host->stop(started->identity, SIGTERM, std::chrono::milliseconds(200)), Host::Stopped::kKilled);
  d.command.argv = {"echo", "short"};
  d.log_file = dir + "/w/new/log";
  started = host->start(d);
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_TRUE(started->ended);
  started = host->start(d);
  EXPECT_EQ(started->log_from, 6u);
}

TEST_F(Ssh, AnotherUsersCommandHasThatUsersEnvironment) {
  Command c;
  c.argv = {"/bin/sh", "-c", "env"};
  c.user = "daemon";
  c.environment = {{"GIVEN", "it's"}};
  auto r = host->run(c);
  EXPECT_TRUE(r.ok()) << r.describe() << r.err;
  for (std::string_view there : {"HOME=/usr/sbin\n", "USER=daemon\n", "LOGNAME=daemon\n", "GIVEN=it's\n"})
    EXPECT_NE(r.out.find(there), std::string::npos) << there << "\n" << r.out;
  EXPECT_EQ(r.out.find("SSH_CONNECTION"), std::string::npos) << r.out;
  c.user = "root";
  EXPECT_NE(host->run(c).out.find("SSH_CONNECTION"), std::string::npos);
}

// Words that come from elsewhere (an output, a setting) are never read by a shell.
TEST_F(Ssh, AddressesAndNamesAreNoShellText) {
  std::string ran = dir + "/w/ran";
  for (std::string address :
       {"127.0.0.1/1; touch " + ran + "; #", "$(touch " + ran + ")", "x' ; touch " + ran + " '", "`touch " + ran + "`"})
    EXPECT_FALSE(host->connects(address, 1, milliseconds(1000))) << address;
  Command c;
  c.argv = {"true"};
  c.environment = {{"A; touch " + ran + "; B", "x"}};
  auto r = host->run(c);
  EXPECT_EQ(r.end, CommandResult::End::kNotStarted) << r.describe();
  EXPECT_NE(r.message.find("cannot be the name of a variable"), std::string::npos) << r.message;
  EXPECT_FALSE(fs::exists(ran));
}

TEST_F(Ssh, ALostConnectionIsToldFromAFailedCommand) {
  std::thread cut([&] {
    ::usleep(500000);
    here()->shell("ip netns exec " + ns + " ip link set eth0 down");
  });
  auto r = host->shell("sleep 30");
  cut.join();
  EXPECT_EQ(r.end, CommandResult::End::kLost) << r.describe();
  here()->shell("ip netns exec " + ns + " ip link set eth0 up");
  CommandResult again;
  for (int i = 0; i < 100 && !(again = host->shell("echo back")).ok(); ++i) ::usleep(100000);
  EXPECT_EQ(again.out, "back\n") << again.describe();
}

// Without any host: what ssh runs to connect is counted and fails.
class Unreachable : public ::testing::Test {
 protected:
  void SetUp() override {
    dir = here()->shell("mktemp -d").out;
    while (!dir.empty() && dir.back() == '\n') dir.pop_back();
    target.name = "gone";
    target.destination = "gone.invalid";
  }
  void TearDown() override { fs::remove_all(dir); }
  int attempts() const {
    return std::atoi(here()->shell("wc -l < " + dir + "/attempts 2>/dev/null || echo 0").out.c_str());
  }
  std::string dir;
  SshTarget target;
};

TEST_F(Unreachable, ManyWhoWantAHostThatIsGoneCostOneAttempt) {
  target.options = {"ProxyCommand=sh -c 'echo x >> " + dir + "/attempts; sleep 0.3; echo SSH-2.0-OpenSSH_9'"};
  auto gone = ssh(target);
  EXPECT_EQ(gone->at_once(), 1u);
  std::vector<CommandResult> results(20);
  std::vector<std::thread> all;
  for (auto& r : results) all.emplace_back([&] { r = gone->shell("echo never"); });
  for (auto& t : all) t.join();
  for (auto& r : results) {
    EXPECT_EQ(r.lost_code(), EHOSTUNREACH) << r.describe();
    EXPECT_NE(r.describe().find("cannot reach gone"), std::string::npos) << r.describe();
  }
  EXPECT_EQ(attempts(), 1);
  // And later it is tried again: a host that comes back is used.
  for (int i = 0; i < 100 && attempts() < 2; ++i) {
    ::usleep(100000);
    gone->shell("echo never");
  }
  EXPECT_EQ(attempts(), 2);
}

TEST_F(Unreachable, WhoWaitsForAConnectionCanBeCancelled) {
  target.options = {"ProxyCommand=sh -c 'echo x >> " + dir + "/attempts; sleep 60'"};
  auto gone = ssh(target);
  Cancel cancel;
  std::vector<CommandResult> results(4);
  std::vector<std::thread> all;
  for (auto& r : results) all.emplace_back([&] { r = gone->shell("echo never", {}, &cancel); });
  for (int i = 0; i < 100 && attempts() == 0; ++i) ::usleep(20000);
  cancel.raise();
  for (auto& t : all) t.join();
  for (auto& r : results) EXPECT_EQ(r.end, CommandResult::End::kCancelled) << r.describe();
}

// A name that looks like an option would run a command here.
TEST_F(Unreachable, ADestinationIsNoOption) {
  target.destination = "-oProxyCommand=touch " + dir + "/ran";
  auto r = ssh(target)->shell("true");
  EXPECT_EQ(r.lost_code(), EHOSTUNREACH);
  EXPECT_FALSE(fs::exists(dir + "/ran")) << r.describe();
}

// The socket of the shared connection has its place whatever the length of the names around it.
TEST_F(Unreachable, SocketsAreShortAndOurs) {
  auto path = new_socket_path();
  ASSERT_TRUE(path.has_value()) << path.error().message;
  EXPECT_LE(path->size() + 17 + 1, 108u);
  auto state = here()->stat(path->substr(0, path->rfind('/')), false, false);
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->mode & 077, 0u);
  EXPECT_EQ(state->uid, ::geteuid());
  EXPECT_NE(*new_socket_path(), *path);
}

TEST_F(Unreachable, ADirectoryForSocketsThatIsSomebodyElsesIsNotUsed) {
  std::string runtime = dir + "/" + std::string(12, 'r');
  fs::create_directories(runtime + "/tutti");
  ::chmod((runtime + "/tutti").c_str(), 0777);
  const char* before = std::getenv("XDG_RUNTIME_DIR");
  std::string kept = before ? before : "";
  ::setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
  auto open_to_all = socket_directory();
  ::chmod((runtime + "/tutti").c_str(), 0700);
  auto ours = socket_directory();
  fs::remove_all(runtime + "/tutti");
  fs::create_directory_symlink("/tmp", runtime + "/tutti");
  auto link = socket_directory();
  ::setenv("XDG_RUNTIME_DIR", (runtime + std::string(90, 'x')).c_str(), 1);
  auto too_long = socket_directory();
  if (before)
    ::setenv("XDG_RUNTIME_DIR", kept.c_str(), 1);
  else
    ::unsetenv("XDG_RUNTIME_DIR");
  ASSERT_TRUE(open_to_all && ours && link && too_long);
  EXPECT_EQ(*ours, runtime + "/tutti");
  for (auto& other : {*open_to_all, *link, *too_long}) EXPECT_FALSE(other.starts_with(runtime)) << other;
}

// A host that takes few at a time turns others away before they have said what they want: they come again.
TEST_F(Ssh, WhoIsTurnedAwayComesAgainAndNothingIsDoneTwice) {
  auto local = here();
  auto started = local->shell("cd " + dir +
                                  " && sed 's/MaxSessions 100/MaxSessions 2/; s/sshd.pid/busy.pid/' config > busy && "
                                  "printf 'MaxStartups 2:100:2\\nPort 2222\\n' >> busy && ip netns exec " +
                                  ns + " /usr/sbin/sshd -f " + dir + "/busy -E " + dir + "/busy.log",
                              milliseconds(30000));
  ASSERT_TRUE(started.ok()) << started.err;
  SshTarget busy = target;
  busy.port = 2222;
  auto crowded = ssh(busy);
  std::string address = target.destination.substr(5);
  for (int i = 0; i < 200 && !local->connects(address, 2222, milliseconds(100)); ++i) ::usleep(50000);
  std::vector<CommandResult> results(12);
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < results.size(); ++i)
    all.emplace_back([&, i] { results[i] = crowded->shell("echo x >> " + dir + "/crowd; sleep 0.2"); });
  for (auto& t : all) t.join();
  for (auto& r : results) EXPECT_TRUE(r.ok()) << r.describe() << r.err;
  for (auto& r : results) EXPECT_EQ(r.err, "");  // what ssh says of sessions that were refused is not the command's
  EXPECT_EQ(local->shell("wc -l < " + dir + "/crowd").out, "12\n");
  crowded.reset();
  local->shell("kill $(cat " + dir + "/busy.pid)");
}

// A command that says what ssh says when it is turned away has begun all the same.
TEST_F(Ssh, WhatACommandSaysIsNotTakenForWhatSshSays) {
  auto r = host->shell("echo y >> " + dir +
                       "/said; echo kex_exchange_identification: closed >&2; kill -9 $PPID $(ps -o ppid= $PPID)");
  EXPECT_EQ(r.end, CommandResult::End::kLost) << r.describe();
  EXPECT_EQ(r.lost_code(), ECONNRESET);
  EXPECT_EQ(here()->shell("wc -l < " + dir + "/said").out, "1\n");
}

// A run that was paused wakes up, and another has taken its system over: the host does nothing of it any more.
TEST_F(Ssh, WhoComesWithAnOlderFenceIsRefused) {
  auto older = ssh(target), newer = ssh(target);
  Fence old{dir + "/own/fence/shop.1f", 3}, now{dir + "/own/fence/shop.1f", 4};
  older->set_fence(old);
  newer->set_fence(now);
  ASSERT_TRUE(older->write(dir + "/fenced", "one", 0644));
  // What it has begun goes on, and nobody waits for that.
  Cancel cancel;
  std::thread long_one([&] {
    Command c;
    c.argv = {"sh", "-c", "touch " + dir + "/began; sleep 100"};
    c.cancel = &cancel;
    older->run(c);
  });
  for (int k = 0; k < 1000 && !fs::exists(dir + "/began"); ++k) ::usleep(10000);
  ASSERT_TRUE(newer->raise(now));
  cancel.raise();
  long_one.join();

  auto late = older->write(dir + "/fenced", "two", 0644);
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message.find("taken this system over"), std::string::npos) << late.error().message;
  EXPECT_FALSE(older->remove(dir + "/fenced", false));
  EXPECT_FALSE(older->make_directory(dir + "/late", 0755));
  EXPECT_FALSE(older->shell("touch " + dir + "/late").ok());
  EXPECT_FALSE(older->raise(old)) << "nobody lowers it";
  EXPECT_FALSE(fs::exists(dir + "/late"));
  EXPECT_EQ(*older->read(dir + "/fenced"), "one") << "looking is nobody's harm";
  EXPECT_TRUE(newer->write(dir + "/fenced", "three", 0644));
  EXPECT_TRUE(newer->shell("exit 0").ok());
  EXPECT_EQ(*newer->read(dir + "/fenced"), "three");
  EXPECT_EQ(newer->shell("exit 7").code, 7);
  EXPECT_EQ(newer->shell("kill -9 $$").end, CommandResult::End::kSignalled);
}

}  // namespace
}  // namespace tutti
