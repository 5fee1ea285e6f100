#include "engine/estimate/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/testing/use_cases.h"
#include "engine/verify/verify.h"

namespace tutti::engine {
namespace {

using Kind = UseCase::Kind;
constexpr Kind kAll[] = {Kind::kDeployDeps, Kind::kUpdateNoServer, Kind::kDeployServer, Kind::kUpdateWithServer};

UseCase random_case(u32 n, std::mt19937_64& random) {
  UseCase c;
  c.n = n;
  auto pick = [&] { return static_cast<double>(random() % 20); };
  for (auto* v : {&c.di, &c.dr, &c.du, &c.sc, &c.ss, &c.sp})
    for (u32 i = 0; i < n; ++i) v->push_back(pick());
  c.sa = pick();
  c.sr = pick();
  return c;
}

TEST(Estimate, ClosedFormulasOfAllThreeModels) {
  std::mt19937_64 random(5);
  for (u32 n : {1u, 2u, 3u, 5u, 10u, 40u})
    for (int round = 0; round < 5; ++round) {
      UseCase c = random_case(n, random);
      for (Kind k : kAll) {
        model::System s = c.system(k);
        Graph graph(s);
        Estimate e = estimate(graph);
        EXPECT_TRUE(e.finishes);
        EXPECT_TRUE(e.exact) << (e.assumptions.empty() ? "" : e.assumptions[0]);
        EXPECT_EQ(e.total, c.concerto(k)) << "case " << static_cast<int>(k) << " n " << n;
        EXPECT_EQ(e.graph_total, e.total);
        EXPECT_EQ(aeolus_total(s), c.aeolus(k)) << "case " << static_cast<int>(k) << " n " << n;
        EXPECT_EQ(ansible_total(s), c.ansible(k)) << "case " << static_cast<int>(k) << " n " << n;
      }
    }
}

TEST(Estimate, CriticalPathAddsUpToTheTotalAndHasNoSlack) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 20; ++round) {
    UseCase c = random_case(4, random);
    for (Kind k : kAll) {
      model::System s = c.system(k);
      Graph graph(s);
      Estimate e = estimate(graph);
      std::vector<double> d = graph.expected();
      double sum = 0;
      for (u32 v : e.critical) sum += d[v];
      EXPECT_EQ(sum, e.total);
      for (const Slack& x : e.slack) {
        EXPECT_GE(x.slack, 0);
        bool on = std::any_of(e.critical.begin(), e.critical.end(), [&](u32 v) {
          const Event& ev = graph.events()[v];
          return ev.kind == Event::Kind::kFire && ev.instance == x.instance && ev.index == x.transition &&
                 ev.push == x.push;
        });
        if (on) {
          EXPECT_EQ(x.slack, 0);
        }
      }
    }
  }
}

// The expected value of the largest of n sums of two normal durations is known; the sample's must be near it.
TEST(Estimate, MonteCarloMeans) {
  UseCase c;
  c.n = 2;
  c.di = c.dr = c.du = {60, 60};
  model::System s = c.system(Kind::kDeployDeps);
  for (auto& [i, list] : s.durations)
    for (model::Duration& d : list) d = {model::Duration::Law::kNormal, 60, 10};
  MonteCarlo mc = monte_carlo(Graph(s), 20000, 1, false);
  const double e2 = 1 / std::sqrt(std::acos(-1.0));  // largest of two standard normals
  double error = 4 * 14.2 / std::sqrt(20000.0);
  EXPECT_NEAR(mc.concerto.mean, 120 + std::sqrt(2.0) * e2 * 10, error);
  EXPECT_NEAR(mc.ansible.mean, 120 + 2 * e2 * 10, error);
}

// Durations below zero are what they are on every path: the mean of Table 3 is 199.9 with a deviation of 116.7, and
// would be nine more with zero in their place.
TEST(Estimate, MonteCarloOfWideLaws) {
  UseCase c;
  c.n = 2;
  c.di = c.dr = c.du = {60, 60};
  model::System s = c.system(Kind::kDeployDeps);
  for (auto& [i, list] : s.durations)
    for (model::Duration& d : list) d = {model::Duration::Law::kNormal, 60, 100};
  MonteCarlo mc = monte_carlo(Graph(s), 100000, 3, false);
  double error = 4 * 117 / std::sqrt(100000.0);
  EXPECT_NEAR(mc.concerto.mean, 199.8, error);
  EXPECT_NEAR(mc.concerto.deviation, 116.8, error);
  EXPECT_NEAR(mc.ansible.mean, 232.8, error);
  EXPECT_NEAR(mc.ansible.deviation, 116.8, error);
}

// Listing 11 with a type for each dependency, as the paper has it, all durations 5: the same action is one task.
TEST(Estimate, TheSameActionIsOneTaskWhateverItsType) {
  for (u32 n : {10u, 100u}) {
    UseCase c;
    c.n = n;
    for (auto* v : {&c.di, &c.dr, &c.du, &c.sc, &c.ss, &c.sp}) v->assign(n, 5);
    c.sa = c.sr = 5;
    model::System s = c.system(Kind::kUpdateWithServer);
    for (u32 i = 1; i < n; ++i) {
      s.instances[i].type = static_cast<u32>(s.types.size());
      s.types.push_back(std::make_shared<model::ComponentType>(*s.types[0]));
    }
    EXPECT_EQ(ansible_total(s), 15.0 * n + 10);
    EXPECT_EQ(aeolus_total(s), 10.0 * n + 5);
    EXPECT_EQ(estimate(Graph(s)).total, 15);
  }
}

// Known sizes of the full graph of the rules, and that the reduced search needs only one run's worth of states.
TEST(Verify, StateCountsOfTheUseCases) {
  std::mt19937_64 random(7);
  const u64 full[4][3] = {{10, 82, 658}, {15, 141, 1275}, {18, 40, 142}, {105, 1383, 22921}};
  for (u32 n = 1; n <= 3; ++n)
    for (u32 k = 0; k < 4; ++k) {
      model::System s = random_case(n, random).system(kAll[k]);
      VerifyOptions all;
      all.full = true;
      VerifyOptions whole;
      whole.compose = false;
      VerifyReport a = verify(s, {}, all), b = verify(s, {}, whole), c = verify(s, {});
      EXPECT_EQ(a.states, full[k][n - 1]);
      EXPECT_TRUE(a.deadlock_free && a.one_safe);
      EXPECT_EQ(a.ends, 1u);
      EXPECT_TRUE(b.deadlock_free && b.complete);
      const u64 reduced[4] = {9 * n + 1, 10 * n + 1, 6 * n + 12, 14 * n + 10};
      EXPECT_EQ(b.states, reduced[k]);
      EXPECT_TRUE(c.deadlock_free && c.complete && c.states <= b.states);
    }
}

}  // namespace
}  // namespace tutti::engine
