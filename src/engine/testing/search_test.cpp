// The reduced search against the full one, on random systems of every shape: the same ends, the same verdicts, the same
// word on whether tokens merge, and counterexamples that the rules and the engine allow. Nets in which tokens merge and
// actions that fail are part of it: the reduction was once right for 1-safe nets only, and so was this comparison.
// `TUTTI_ROUNDS=100000 engine_tests --gtest_filter=Search.*` is the campaign.
#include <gtest/gtest.h>

#include <set>

#include "engine/run/runner.h"
#include "engine/run/simulate.h"
#include "engine/testing/campaign.h"
#include "engine/testing/random_system.h"
#include "engine/verify/verify.h"

namespace tutti::engine {
namespace {

using Ends = std::set<std::vector<u64>>;

auto keep(Ends& to) {
  return [&to](const Rules& rules, const u64* s) { to.insert(std::vector<u64>(s, s + rules.words())); };
}

// What the one search found and the other did not, for people.
std::string missed(const model::System& system, u32 failures, const Ends& ends, const Ends& by) {
  Rules rules(system, {true, failures});
  std::string t;
  for (const std::vector<u64>& s : ends)
    if (!by.count(s)) t += fmt::format("missed: {}\n", fmt::join(describe(rules, s.data()), "\n        "));
  return t;
}

RandomSystemOptions shape(u64 seed) {
  RandomSystemOptions options = RandomSystemOptions::wide();
  if (seed % 4 == 0) return {};  // small and plain ones too: several instances that wait for each other
  if (seed % 4 == 1) options.anywhere = options.half_way = false;
  if (seed % 4 == 2) options.most_types = 1, options.most_instances = 2, options.most_pushes = 4;
  return options;
}

VerifyOptions looking_at_all(u64 most_states, u32 failures) {
  VerifyOptions o;
  o.full = true;
  o.most_states = most_states;
  o.failures = failures;
  return o;
}

void tally(Tally& tally, const VerifyReport& full, u32 failures) {
  tally.count("with merging tokens", !full.one_safe);
  tally.count("get stuck", !full.deadlock_free);
  tally.count("merge and get stuck", !full.one_safe && !full.deadlock_free);
  tally.count("with failing actions", failures != 0);
}

void expect_usual_shares(Tally& tally) {
  EXPECT_GT(tally.share("compared"), 80);
  EXPECT_GT(tally.share("with merging tokens"), 5);
  EXPECT_GT(tally.share("get stuck"), 10);
  EXPECT_GT(tally.share("merge and get stuck"), 2);
  EXPECT_GT(tally.share("with failing actions"), 10);
}

TEST(Search, ReducedFindsTheSameEnds) {
  Tally all("reduced against full");
  u64 states = 0, reduced = 0;
  for (u64 seed = first_seed(), n = seed + rounds(2000); seed < n && !::testing::Test::HasFailure(); ++seed) {
    model::System system = RandomSystem(seed, shape(seed)).make();
    u32 failures = seed % 5 == 0 ? 1 + static_cast<u32>(seed / 5 % 2) : 0;
    Ends ends, ends_reduced;
    all.made();
    VerifyReport a = verify(system, {}, looking_at_all(100'000, failures), keep(ends));
    if (!a.complete) {
      all.count("too large");
      continue;
    }
    VerifyOptions plain;
    plain.symmetry = false;
    plain.failures = failures;
    VerifyReport b = verify(system, {}, plain, keep(ends_reduced));
    all.count("compared");
    tally(all, a, failures);
    states += a.states;
    reduced += b.states;
    EXPECT_TRUE(ends == ends_reduced) << "seed " << seed << "\n"
                                      << text_of(system) << missed(system, failures, ends, ends_reduced);
    EXPECT_EQ(contradictions(a, b), std::vector<std::string>()) << "seed " << seed << "\n" << text_of(system);
  }
  expect_usual_shares(all);
  fmt::print("states looked at: {} of {}\n", reduced, states);
}

// One of each kind of property, about random places.
std::vector<Property> random_properties(const model::System& system, std::mt19937_64& dice) {
  std::vector<Property> properties(6);
  auto atom_of = [&](u32 i) {
    Expr atom;
    atom.kind = Expr::Kind::kAtom;
    atom.atom.instance = i;
    atom.atom.index = static_cast<u32>(dice() % system.type_of(i).places.size());
    return atom;
  };
  auto someone = [&] { return static_cast<u32>(dice() % system.instances.size()); };
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
    Expr atom = atom_of(i);
    if (system.instances[i].type == 0) count.parts.push_back(atom);
    if (dice() % 3 == 0) one.parts.push_back(atom);
  }
  properties[2].text = "finally";
  properties[2].kind = Property::Kind::kFinally;
  properties[2].expr = atom_of(someone());
  properties[3].text = "reachable";
  properties[3].kind = Property::Kind::kReachable;
  properties[3].expr = atom_of(someone());
  auto event = [&](Step::Kind kind) {
    EventPattern e;
    e.kind = kind;
    u32 i = someone();
    const model::ComponentType& t = system.type_of(i);
    std::size_t many = kind == Step::Kind::kEnd ? t.transitions.size() : t.places.size();
    e.leave = kind == Step::Kind::kFire;
    e.what.push_back({i, static_cast<u32>(dice() % many)});
    return e;
  };
  properties[4].text = "before";
  properties[4].kind = Property::Kind::kBefore;
  properties[4].a = event(Step::Kind::kEnter), properties[4].b = event(Step::Kind::kEnd);
  properties[5].text = "between";
  properties[5].kind = Property::Kind::kBetween;
  properties[5].a = event(Step::Kind::kFire), properties[5].b = event(Step::Kind::kEnter);
  properties[5].c = event(Step::Kind::kEnd);
  // Not all at once: what one of them observes would keep the others from being reduced.
  for (std::size_t k = properties.size(); k-- > 0;)
    if (dice() % 2) properties.erase(properties.begin() + static_cast<std::ptrdiff_t>(k));
  return properties;
}

void expect_a_way_there(const model::System& system, const VerifyReport& report, u32 failures, u64 seed) {
  Rules rules(system, {true, failures});
  for (const Counterexample& c : report.counterexamples) {
    Rules::State s;
    EXPECT_EQ(replay(rules, c.steps, s), c.steps.size()) << c.property << ", seed " << seed << "\n" << text_of(system);
    if (failures) continue;
    // The engine can be made to go the same way.
    SimulatedExecutor executor;
    Runner runner(system, executor);
    EXPECT_EQ(runner.replay(c.steps).steps, c.steps.size()) << c.property << ", seed " << seed << "\n"
                                                            << text_of(system);
  }
}

// Exchanging alike instances, looking at parts alone and counting give the same verdicts as looking at everything; a
// counterexample found that way is one.
TEST(Search, SymmetryAndPartsGiveTheSameVerdicts) {
  Tally all("properties, reduced against full");
  for (u64 seed = first_seed(), n = seed + rounds(2000); seed < n && !::testing::Test::HasFailure(); ++seed) {
    RandomSystemOptions options = shape(seed);
    if (seed % 4 != 2) options.most_instances = 4;
    model::System system = RandomSystem(seed, options).make();
    std::mt19937_64 dice(seed);
    std::vector<Property> properties = random_properties(system, dice);
    u32 failures = seed % 5 == 0 ? 1 : 0;
    all.made();
    VerifyReport a = verify(system, properties, looking_at_all(50'000, failures));
    if (!a.complete) {
      all.count("too large");
      continue;
    }
    VerifyOptions quick;
    quick.failures = failures;
    VerifyReport b = verify(system, properties, quick);
    all.count("compared");
    tally(all, a, failures);
    EXPECT_EQ(contradictions(a, b), std::vector<std::string>()) << "seed " << seed << "\n" << text_of(system);
    for (std::size_t k = 0; k < properties.size(); ++k) {
      all.count("properties");
      all.count("broken", a.verdicts[k].holds == Answer::kNo);
      all.count("proved by counting", b.verdicts[k].by_counting);
    }
    expect_a_way_there(system, b, failures, seed);
  }
  expect_usual_shares(all);
  EXPECT_GT(all.of("broken"), all.of("properties") / 10);
  EXPECT_GT(all.of("proved by counting"), 0u);
}

// What a limit kept from being looked at is open, whatever was seen so far; what was seen stays seen.
TEST(Search, WhatWasNotLookedAtIsOpen) {
  Tally all("cut short");
  for (u64 seed = first_seed(), n = seed + rounds(1000); seed < n && !::testing::Test::HasFailure(); ++seed) {
    model::System system = RandomSystem(seed, shape(seed)).make();
    std::mt19937_64 dice(seed);
    std::vector<Property> properties = random_properties(system, dice);
    VerifyReport a = verify(system, properties, looking_at_all(20'000, 0));
    if (!a.complete) continue;
    VerifyOptions little;
    little.full = seed % 2;
    little.most_states = 1 + seed % 20;
    VerifyReport b = verify(system, properties, little);
    all.made();
    EXPECT_EQ(contradictions(a, b), std::vector<std::string>()) << "seed " << seed << "\n" << text_of(system);
    if (b.complete) continue;
    all.count("incomplete");
    EXPECT_NE(b.never_stuck(), Answer::kYes);
    for (const Verdict& v : b.verdicts) {
      bool reachable = v.property.kind == Property::Kind::kReachable;
      if (!v.by_counting) {
        EXPECT_NE(v.holds, reachable ? Answer::kNo : Answer::kYes) << v.property.text;
      }
      all.count("answered all the same", v.holds != Answer::kOpen);
    }
  }
  EXPECT_GT(all.share("incomplete"), 20);
  EXPECT_GT(all.of("answered all the same"), 0u);
}

TEST(Search, ContradictionsAreTold) {
  VerifyReport a, b;
  a.complete = b.complete = true;
  a.verdicts.push_back({Property{.text = "always x"}, Answer::kYes});
  b.verdicts.push_back({Property{.text = "always x"}, Answer::kOpen});
  EXPECT_TRUE(contradictions(a, b).empty());
  b.verdicts[0].holds = Answer::kNo;
  EXPECT_EQ(contradictions(a, b), std::vector<std::string>{"always x: yes and no"});
  b.deadlock_free = false;
  EXPECT_EQ(contradictions(a, b).size(), 2u);
  a.complete = false;  // then it has not said that it never gets stuck
  EXPECT_EQ(contradictions(a, b).size(), 1u);
}

}  // namespace
}  // namespace tutti::engine
