// The three implementations against each other, on random systems: the scheduler's runs are paths of the rules that end
// where the rules end; the reduced search finds the same ends as the full one; the simulated time is the estimate.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "engine/estimate/estimate.h"
#include "engine/run/simulate.h"
#include "engine/testing/random_system.h"
#include "engine/verify/verify.h"

namespace tutti::engine {
namespace {

u64 rounds(u64 usual) {
  const char* wanted = std::getenv("TUTTI_ROUNDS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : usual;
}
u64 first_seed() {
  const char* wanted = std::getenv("TUTTI_SEED");
  return wanted ? std::strtoull(wanted, nullptr, 10) : 1;
}

std::string text_of(const model::System& s) {
  std::string t;
  for (const auto& type : s.types) {
    t += fmt::format("type {}\n", type->name.text());
    for (const auto& k : type->transitions) {
      t += fmt::format("  {} {} ->", k.name.text(), type->places[k.source].name.text());
      for (const auto& o : type->outcomes_of(k)) t += fmt::format(" {}", type->stations[o.station].name.text());
      t += "\n";
    }
    for (const auto& p : type->ports) {
      t += fmt::format("  {} {}:", p.provide ? "provide" : "use", p.name.text());
      for (u32 x : p.places) t += fmt::format(" {}", type->places[x].name.text());
      t += "\n";
    }
  }
  for (const auto& i : s.instances) {
    t += fmt::format("{} : {} at", i.name.text(), s.types[i.type]->name.text());
    for (u32 e : i.marking) t += fmt::format(", {}", s.types[i.type]->element_name(e));
    t += "\n";
  }
  for (const auto& l : s.links)
    t += fmt::format("{} -> {}\n", s.port_text(l.user, l.use), s.port_text(l.provider, l.provide));
  for (const auto& in : s.program) t += s.instruction_text(in) + "\n";
  return t;
}

class Checker : public RunListener {
 public:
  explicit Checker(const model::System& system) : system_(system), rules_(system), state_(rules_.initial()) {}
  void step(double, const Step& s) override {
    if (!ok_) return;
    if (!rules_.is_enabled(state_.data(), s)) {
      ok_ = false;
      ADD_FAILURE() << "not allowed: " << step_text(system_, s) << "\n" << text_of(system_);
      return;
    }
    rules_.apply(state_.data(), s);
  }
  bool ok() const { return ok_; }
  void compare(const Scheduler& scheduler) {
    std::vector<Step> left;
    rules_.enabled(state_.data(), left);
    EXPECT_TRUE(left.empty()) << "still possible: " << (left.empty() ? "" : step_text(system_, left[0])) << "\n"
                              << text_of(system_);
    for (u32 i = 0; i < system_.instances.size(); ++i) {
      if (!scheduler.present(i)) continue;
      for (u32 e = 0; e < system_.type_of(i).elements; ++e)
        ASSERT_EQ(scheduler.marked(i, e), rules_.marked(state_.data(), i, e)) << text_of(system_);
    }
    EXPECT_EQ(scheduler.finished(), rules_.is_final(state_.data()));
  }

 private:
  const model::System& system_;
  Rules rules_;
  Rules::State state_;
  bool ok_ = true;
};

TEST(Agree, SchedulerFollowsTheRulesToTheEnd) {
  for (u64 seed = first_seed(), n = seed + rounds(3000); seed < n && !::testing::Test::HasFailure(); ++seed) {
    RandomSystem random(seed, {3, 4, 5, 3, 8, true, true, seed % 3 == 0});
    model::System system = random.make();
    Checker checker(system);
    std::mt19937_64 dice(seed);
    SimulatedExecutor executor([&](const ActionRequest& r) {
      const auto& t = system.type_of(r.instance);
      auto outcomes = t.outcomes_of(t.transitions[r.transition]);
      return SimulatedExecutor::Fate{static_cast<double>(dice() % 5), How::kOk,
                                     std::string(outcomes[dice() % outcomes.size()].name.text())};
    });
    RunOptions options;
    if (dice() % 3 == 0) options.parallel = 1 + static_cast<u32>(dice() % 2);
    Runner runner(system, executor, options, nullptr, &checker);
    runner.run();
    if (checker.ok()) checker.compare(runner.scheduler());
    EXPECT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
}

TEST(Agree, ReducedSearchFindsTheSameEnds) {
  u64 compared = 0, states = 0, reduced = 0;
  for (u64 seed = first_seed(), n = seed + rounds(2000); seed < n && !::testing::Test::HasFailure(); ++seed) {
    RandomSystemOptions options;
    options.half_way = seed % 3 == 0;
    RandomSystem random(seed, options);
    model::System system = random.make();
    std::set<std::vector<u64>> ends, ends_reduced;
    auto keep = [](std::set<std::vector<u64>>& to) {
      return [&to](const Rules& rules, const u64* s) { to.insert(std::vector<u64>(s, s + rules.words())); };
    };
    VerifyOptions full;
    full.full = true;
    full.most_states = 200000;
    VerifyReport a = verify(system, {}, full, keep(ends));
    if (!a.complete || !a.one_safe) continue;  // tokens that merge are lost: no order of steps can be exchanged then
    VerifyOptions plain;
    plain.symmetry = false;
    VerifyReport b = verify(system, {}, plain, keep(ends_reduced));
    ++compared;
    states += a.states;
    reduced += b.states;
    EXPECT_EQ(ends, ends_reduced) << "seed " << seed << "\n" << text_of(system);
    EXPECT_EQ(a.deadlock_free, b.deadlock_free);
  }
  EXPECT_GT(compared, 0u);
  RecordProperty("states", static_cast<int>(states));
  RecordProperty("reduced", static_cast<int>(reduced));
}

// Several of each kind, with switches: exchanging alike instances and looking at parts alone give the same verdicts as
// looking at everything; a counterexample found that way is one.
TEST(Agree, SymmetryAndPartsGiveTheSameVerdicts) {
  u64 compared = 0, deadlocks = 0, broken = 0, counted = 0;
  for (u64 seed = first_seed(), n = seed + rounds(1500); seed < n && !::testing::Test::HasFailure(); ++seed) {
    RandomSystem random(seed, {2, 4, 4, 2, 7, true, seed % 2 == 0, seed % 3 == 0});
    model::System system = random.make();
    std::mt19937_64 dice(seed);
    std::vector<Property> properties(2);
    Expr& count = properties[0].expr;
    properties[0].text = "count";
    count.kind = Expr::Kind::kCount;
    count.compare = dice() % 2 ? Expr::Compare::kLessEqual : Expr::Compare::kGreaterEqual;
    count.number = static_cast<i64>(dice() % 3);
    properties[1].text = "one";
    properties[1].kind = Property::Kind::kNever;
    Expr& one = properties[1].expr;
    one.kind = Expr::Kind::kAnd;
    for (u32 i = 0; i < system.instances.size(); ++i) {
      Expr atom;
      atom.kind = Expr::Kind::kAtom;
      atom.atom.instance = i;
      atom.atom.index = static_cast<u32>(dice() % system.type_of(i).places.size());
      if (system.instances[i].type == 0) count.parts.push_back(atom);
      if (dice() % 3 == 0) one.parts.push_back(atom);
    }
    VerifyOptions full;
    full.full = true;
    full.most_states = 100000;
    VerifyReport a = verify(system, properties, full);
    if (!a.complete || !a.one_safe) continue;
    VerifyReport b = verify(system, properties, {});
    ++compared;
    counted += b.verdicts[0].proved;
    deadlocks += !a.deadlock_free;
    EXPECT_EQ(a.deadlock_free, b.deadlock_free) << "seed " << seed << "\n" << text_of(system);
    for (std::size_t k = 0; k < properties.size(); ++k) {
      broken += !a.verdicts[k].holds;
      EXPECT_EQ(a.verdicts[k].holds, b.verdicts[k].holds) << k << ", seed " << seed << "\n" << text_of(system);
    }
    Rules rules(system);
    for (const Counterexample& c : b.counterexamples) {
      Rules::State s;
      EXPECT_EQ(replay(rules, c.steps, s), c.steps.size()) << c.property << ", seed " << seed << "\n"
                                                           << text_of(system);
      // The engine can be made to go the same way.
      SimulatedExecutor executor;
      Runner runner(system, executor);
      EXPECT_EQ(runner.replay(c.steps).steps, c.steps.size()) << c.property << ", seed " << seed << "\n"
                                                              << text_of(system);
    }
  }
  EXPECT_GT(compared, 100u);
  EXPECT_GT(deadlocks, 10u);
  EXPECT_GT(broken, 10u);
  EXPECT_GT(counted, 10u);
}

TEST(Agree, EstimateIsTheSimulatedTime) {
  u64 exact = 0;
  for (u64 seed = first_seed(), n = seed + rounds(3000); seed < n && !::testing::Test::HasFailure(); ++seed) {
    RandomSystem random(seed, {2, 3, 5, 2, 5, false, true, seed % 3 == 0});
    model::System system = random.make();
    Graph graph(system);
    if (!graph.assumptions().empty() || !graph.stuck().empty() || !graph.acyclic()) continue;
    VerifyReport v = verify(system, {}, {});
    if (!v.complete || !v.deadlock_free || !v.one_safe) continue;
    Estimate e = estimate(graph);
    ++exact;
    EXPECT_TRUE(e.finishes);
    EXPECT_EQ(e.graph_total, e.total) << "seed " << seed << "\n" << text_of(system);
  }
  EXPECT_GT(exact, 100u);
}

}  // namespace
}  // namespace tutti::engine
