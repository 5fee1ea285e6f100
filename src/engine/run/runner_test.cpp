// What a runner starts when, with an executor that ends what it is told to: no process, no clock.
#include "engine/run/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace tutti::engine {
namespace {

// Components of one type off -> up, each with an action, on hosts by name.
struct OnHosts {
  explicit OnHosts(const std::vector<std::string>& hosts) {
    model::TypeSource t;
    auto name = [](std::string_view s) { return model::Named{Symbol(s), {}}; };
    t.name = name("T");
    t.places = {name("off"), name("up")};
    model::Action action;
    action.what = TreeBuilder(arena).string("something");
    t.transitions = {{name("go"), name("off"), {name("up")}, {}, action}};
    t.initial = {name("off")};
    t.behaviours = {{name("deploy"), {name("go")}}};
    Diagnostics d;
    system.types.push_back(std::make_unique<model::ComponentType>(std::move(*model::compile(t, d))));
    for (auto& host : hosts) {
      model::Instance i;
      u32 n = static_cast<u32>(system.instances.size());
      i.name = Symbol("i" + std::to_string(n));
      i.host = Symbol(host);
      i.type = 0;
      i.marking = {0};
      i.present = true;
      system.instances.push_back(i);
      model::Instruction push;
      push.op = model::Op::kPush;
      push.instance = n;
      push.behaviour = 0;
      system.program.push_back(push);
    }
  }
  Arena arena;
  model::System system;
};

// Ends one action at each wait, the first whose host is not sick; when only sick ones are left, these.
struct Puppeteer : Executor {
  double now() const override { return static_cast<double>(turns); }
  void start(const ActionRequest& r) override {
    under_way.push_back({r.instance, r.host});
    most[r.host] = std::max(most[r.host], ++running[r.host]);
  }
  u32 most_on(Symbol host) const override {
    auto at = limit.find(host);
    return at == limit.end() ? 0 : at->second;
  }
  void cancel(u32, u32) override {}
  void wait(std::vector<ActionResult>& results, double) override {
    ++turns;
    if (before_wait && before_wait()) return;
    auto next = std::find_if(under_way.begin(), under_way.end(), [&](auto& a) { return !sick.count(a.second); });
    if (next == under_way.end()) next = under_way.begin();
    if (next == under_way.end()) return;
    ActionResult r;
    r.instance = next->first;
    --running[next->second];
    ended.push_back(next->second);
    under_way.erase(next);
    results.push_back(r);
  }
  void stop_all() override {}

  std::map<Symbol, u32> limit, running, most;
  std::set<Symbol> sick;
  std::vector<std::pair<u32, Symbol>> under_way;
  std::vector<Symbol> ended;
  std::function<bool()> before_wait;  // true: woken, with no result
  u32 turns = 0;
};

std::vector<std::string> spread(std::initializer_list<std::string> hosts, u32 each) {
  std::vector<std::string> out;
  for (auto& h : hosts) out.insert(out.end(), each, h);
  return out;
}

TEST(Runner, AHostThatHangsHoldsUpNobodyElse) {
  OnHosts s(spread({"sick", "one", "two"}, 20));
  Puppeteer e;
  Symbol sick("sick");
  e.sick = {sick};
  e.limit = {{sick, 1}, {Symbol("one"), 8}, {Symbol("two"), 8}};
  RunOptions o;
  o.parallel = 10;
  auto report = Runner(s.system, e, o).run();
  EXPECT_TRUE(report.finished);
  ASSERT_EQ(e.ended.size(), 60u);
  // All 40 of the others came before any of the one that hangs.
  EXPECT_EQ(std::find(e.ended.begin(), e.ended.end(), sick) - e.ended.begin(), 40);
  EXPECT_EQ(e.most[sick], 1u);
  EXPECT_LE(e.most[Symbol("one")], 8u);
}

TEST(Runner, ALimitThatRisesWhileActionsRunIsUsedAtOnce) {
  OnHosts s(spread({"far"}, 12));
  Puppeteer e;
  Symbol far("far");
  e.limit = {{far, 1}};
  e.before_wait = [&] {
    if (e.turns != 1) return false;
    EXPECT_EQ(e.running[far], 1u);
    e.limit[far] = 5;  // it has answered
    return true;
  };
  EXPECT_TRUE(Runner(s.system, e).run().finished);
  EXPECT_EQ(e.ended.size(), 12u);
  EXPECT_EQ(e.most[far], 5u);
}

TEST(Runner, TheSmallerLimitCounts) {
  OnHosts s(spread({"a", "b"}, 12));
  Puppeteer e;
  e.limit = {{Symbol("a"), 3}};
  RunOptions o;
  o.parallel_per_host = 4;
  EXPECT_TRUE(Runner(s.system, e, o).run().finished);
  EXPECT_EQ(e.most[Symbol("a")], 3u);
  EXPECT_EQ(e.most[Symbol("b")], 4u);
}

TEST(Runner, WithoutLimitsEverythingBeginsAtOnceInItsOrder) {
  OnHosts s(spread({"a", "b"}, 50));
  Puppeteer e;
  EXPECT_TRUE(Runner(s.system, e).run().finished);
  EXPECT_EQ(e.most[Symbol("a")] + e.most[Symbol("b")], 100u);
  EXPECT_TRUE(std::is_sorted(e.ended.begin(), e.ended.end(), [](Symbol x, Symbol y) { return x.text() < y.text(); }));
}

}  // namespace
}  // namespace tutti::engine
