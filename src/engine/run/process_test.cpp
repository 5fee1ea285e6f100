#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/run/process_executor.h"
#include "engine/run/runner.h"

namespace tutti::engine {
namespace {

// A system of instances of one type off -> up whose action is the given map.
class Commands {
 public:
  Value text(std::string_view s) { return builder_.string(s); }
  Value map(std::initializer_list<std::pair<std::string_view, Value>> entries) {
    MapDraft d;
    for (const auto& [k, v] : entries) d.set(Symbol(k), v);
    return d.build(builder_);
  }
  model::Action shell(std::string_view command) {
    model::Action a;
    a.what = map({{"run", text(command)}});
    return a;
  }
  void add(const model::Action& action, std::vector<std::string_view> to = {"up"}, std::string_view on_failure = "") {
    model::TypeSource t;
    auto name = [](std::string_view s) { return model::Named{Symbol(s), {}}; };
    u32 k = static_cast<u32>(system.types.size());
    t.name = name("T" + std::to_string(k));
    t.places = {name("off")};
    model::TransitionSource go{name("go"), name("off"), {}, {}, action};
    for (std::string_view p : to) t.places.push_back(name(p)), go.destinations.push_back(name(p));
    if (!on_failure.empty()) t.places.push_back(name(on_failure)), go.on_failure = name(on_failure);
    t.initial = {name("off")};
    t.transitions = {go};
    t.behaviours = {{name("deploy"), {name("go")}}};
    Diagnostics d;
    auto type = model::compile(t, d);
    ASSERT_TRUE(type);
    system.types.push_back(std::make_unique<model::ComponentType>(std::move(*type)));
    instance(k);
  }
  void instance(u32 type) {
    model::Instance i;
    u32 n = static_cast<u32>(system.instances.size());
    i.name = Symbol("i" + std::to_string(n));
    i.type = type;
    i.marking = {0};
    i.present = true;
    system.instances.push_back(i);
    model::Instruction push;
    push.op = model::Op::kPush;
    push.instance = n;
    push.behaviour = 0;
    system.program.push_back(push);
  }
  Arena arena_;
  TreeBuilder builder_{arena_};
  model::System system;
};

TEST(ProcessExecutor, RunsCommandsAndKeepsWhatTheySay) {
  Commands c;
  c.add(c.shell("echo printed; echo ip=10.1.2.3 >> $TUTTI_OUTPUT; echo port=80 >> $TUTTI_OUTPUT"));
  ProcessExecutor executor;
  Runner runner(c.system, executor);
  RunReport r = runner.run();
  EXPECT_TRUE(r.finished);
  ASSERT_EQ(r.actions.size(), 1u);
  EXPECT_EQ(r.actions[0].log, "printed\n");
  EXPECT_EQ(runner.outputs(0), (Outputs{{"ip", "10.1.2.3"}, {"port", "80"}}));
}

TEST(ProcessExecutor, EnvironmentDirectoryAndInput) {
  Commands c;
  model::Action a;
  a.what = c.map(
      {{"run",
        c.text(
            "test \"$COLOUR\" = green && test \"$(pwd)\" = / && test \"$(cat)\" = typed && test $TUTTI_INSTANCE = i0")},
       {"env", c.map({{"COLOUR", c.text("green")}})},
       {"cwd", c.text("/")},
       {"stdin", c.text("typed")}});
  c.add(a);
  ProcessExecutor executor;
  EXPECT_TRUE(Runner(c.system, executor).run().finished);
}

TEST(ProcessExecutor, ASwitchTakesTheOutcomeThatTheActionNames) {
  Commands c;
  c.add(c.shell("echo outcome=degraded >> $TUTTI_OUTPUT"), {"up", "degraded"});
  ProcessExecutor executor;
  Runner runner(c.system, executor);
  EXPECT_TRUE(runner.run().finished);
  EXPECT_TRUE(runner.scheduler().marked(0, c.system.types[0]->find_place(Symbol("degraded"))));
}

TEST(ProcessExecutor, AFailedActionIsAFailedToken) {
  Commands c;
  c.add(c.shell("exit 3"));
  c.add(c.shell("true"));
  ProcessExecutor executor;
  Runner runner(c.system, executor);
  RunReport r = runner.run();
  EXPECT_FALSE(r.finished);
  EXPECT_EQ(r.failed, std::vector<u32>{0});
  EXPECT_TRUE(runner.scheduler().idle(1));
  auto failed = std::find_if(r.actions.begin(), r.actions.end(), [](const ActionSpan& a) { return a.instance == 0; });
  ASSERT_NE(failed, r.actions.end());
  EXPECT_EQ(failed->code, 3);
}

TEST(ProcessExecutor, NoSuchProgramIsAFailureNotACrash) {
  Commands c;
  model::Action a;
  std::vector<Value> words{c.text("/no/such/program")};
  a.what = c.map({{"run", c.builder_.list(words)}});
  c.add(a);
  ProcessExecutor executor;
  RunReport r = Runner(c.system, executor).run();
  EXPECT_FALSE(r.finished);
  EXPECT_EQ(r.actions.at(0).code, 127);
}

TEST(ProcessExecutor, OutcomeForFailure) {
  Commands c;
  c.add(c.shell("exit 1"), {"up"}, "broken");
  ProcessExecutor executor;
  Runner runner(c.system, executor);
  EXPECT_TRUE(runner.run().finished);
  EXPECT_TRUE(runner.scheduler().marked(0, c.system.types[0]->find_place(Symbol("broken"))));
}

TEST(ProcessExecutor, RetriesUntilItWorks) {
  Commands c;
  model::Action a = c.shell("test $TUTTI_ATTEMPT -ge 2");
  a.retry = {5, 0.01, 2, 1};
  c.add(a);
  ProcessExecutor executor;
  RunReport r = Runner(c.system, executor).run();
  EXPECT_TRUE(r.finished);
  EXPECT_EQ(r.actions.at(0).attempts, 3u);
}

TEST(ProcessExecutor, TimeOutKillsTheWholeGroup) {
  std::string mark = "/tmp/tutti_test_" + std::to_string(getpid());
  Commands c;
  model::Action a = c.shell("sleep 100 & echo $! > " + mark + "; wait");
  a.timeout = 0.2;
  c.add(a);
  ProcessExecutor executor;
  RunReport r = Runner(c.system, executor).run();
  EXPECT_FALSE(r.finished);
  EXPECT_EQ(r.actions.at(0).how, How::kTimeout);
  std::ifstream in(mark);
  int pid = 0;
  in >> pid;
  ASSERT_GT(pid, 0);
  for (int k = 0; k < 200 && kill(pid, 0) == 0; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_NE(kill(pid, 0), 0);
  std::filesystem::remove(mark);
}

TEST(ProcessExecutor, CancelEndsWhatRunsAndStartsNothingMore) {
  Commands c;
  c.add(c.shell("sleep 100"));
  for (int k = 0; k < 20; ++k) c.instance(0);
  ProcessExecutor executor;
  RunOptions options;
  options.parallel = 4;
  Runner runner(c.system, executor, options);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    runner.cancel();
    executor.wake();
  });
  RunReport r = runner.run();
  other.join();
  EXPECT_TRUE(r.cancelled);
  EXPECT_FALSE(r.finished);
  EXPECT_EQ(r.actions.size(), 4u);
}

// Whoever began an action waits for its result: those that run, that wait for their turn and that come too late get
// one.
TEST(ProcessExecutor, StoppedGivesEveryActionItsResult) {
  Commands c;
  c.add(c.shell("sleep 100"));
  model::Action pause;
  pause.what = c.map({{"sleep", c.text("100")}});
  c.add(pause);
  for (int k = 0; k < 10; ++k) c.instance(0);
  ProcessExecutor::Options options;
  options.most_processes = 2;
  ProcessExecutor executor(options);
  std::size_t n = c.system.instances.size();
  auto start = [&](u32 i) {
    ActionRequest q;
    q.instance = i;
    q.system = &c.system;
    const model::ComponentType& type = c.system.type_of(i);
    q.action = &type.action_of(type.transitions[0]);
    executor.start(q);
  };
  for (u32 i = 0; i + 1 < n; ++i) start(i);
  executor.stop_all();
  start(static_cast<u32>(n - 1));
  std::vector<ActionResult> results;
  while (results.size() < n) {
    std::size_t before = results.size();
    executor.wait(results, executor.now() + 60);
    ASSERT_GT(results.size(), before) << "actions without a result";
  }
  EXPECT_EQ(results.size(), n);
  for (const ActionResult& r : results) EXPECT_EQ(r.how, How::kCancelled);
}

TEST(ProcessExecutor, LimitsHowManyRunAtOnce) {
  Commands c;
  c.add(c.shell("sleep 0.02"));
  for (int k = 0; k < 11; ++k) c.instance(0);
  ProcessExecutor executor;
  RunOptions options;
  options.parallel = 3;
  RunReport r = Runner(c.system, executor, options).run();
  EXPECT_TRUE(r.finished);
  for (const ActionSpan& a : r.actions) {
    int at_once = 0;
    for (const ActionSpan& b : r.actions) at_once += b.start <= a.start && a.start < b.end;
    EXPECT_LE(at_once, 3);
  }
}

int marked_processes(const std::string& mark) {
  int n = 0;
  for (const auto& e : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(e.path() / "environ", std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(in)), {});
    if (text.find(mark) != std::string::npos) ++n;
  }
  return n;
}

TEST(ProcessExecutor, KilledAtAnyMomentItLeavesNobodyBehind) {
  std::string mark = "TUTTI_TEST_MARK=" + std::to_string(getpid()) + "." + std::to_string(time(nullptr));
  for (int round = 0; round < 12; ++round) {
    pid_t engine = fork();
    if (engine == 0) {
      setpgid(0, 0);
      putenv(const_cast<char*>(mark.c_str()));
      Commands c;
      c.add(c.shell("sleep 100 & (sleep 100 & wait) & sleep 100"));
      for (int k = 0; k < 30; ++k) c.instance(0);
      ProcessExecutor executor;
      Runner(c.system, executor).run();
      _exit(0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3 + round * 9));
    kill(engine, SIGKILL);
    waitpid(engine, nullptr, 0);
    int left = 1;
    for (int k = 0; k < 300 && left; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      left = marked_processes(mark);
    }
    EXPECT_EQ(left, 0) << "round " << round;
  }
}

}  // namespace
}  // namespace tutti::engine
