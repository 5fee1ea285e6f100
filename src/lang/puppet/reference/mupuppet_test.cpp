#include "lang/puppet/reference/mupuppet.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "lang/puppet/reference/random_manifest.h"
#include "lang/puppet/syntax/parser.h"
#include "lang/puppet/testing.h"

namespace tutti::puppet {
namespace {

struct Mu {
  bool ok = false;
  std::string why;
  mu::State state;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> resources;
};

mu::State start_state(const CompileOptions& options) {
  mu::State st;
  for (const auto& [k, v] : options.facts) {
    mu::Expr e;
    bool number = !v.empty() && v.find_first_not_of("0123456789") == std::string::npos;
    e.kind = number ? mu::Ek::kInt : mu::Ek::kString;
    e.text = v;
    if (number) e.integer = std::atoll(v.c_str());
    st.sigma["::"][k] = std::make_shared<const mu::Expr>(e);
  }
  return st;
}

Mu run_mu(const std::string& manifest, const CompileOptions& options,
          const std::function<void(const mu::State&, const mu::State&)>& watch = {}, Steps* steps = nullptr) {
  Mu out;
  Sources sources;
  Arena arena;
  Diagnostics diagnostics;
  Budget budget;
  auto program = parse(**sources.add("test.pp", manifest), LexMode::kManifest, arena, diagnostics, budget);
  if (!program->ok) {
    out.why = "syntax";
    return out;
  }
  try {
    out.state = mu::run(mu::from_syntax(*program), options.node, start_state(options), watch, steps);
    out.ok = true;
    for (const mu::ResourceValue& r : out.state.catalog) out.resources[r.type + "[" + r.title + "]"] = r.attributes;
  } catch (const mu::Stuck& s) {
    out.why = s.why;
  } catch (const mu::Outside& o) {
    out.why = "not in muPuppet: " + o.what;
  }
  return out;
}

const CompileOptions kRandomOptions{true, {{"fact1", "7"}, {"fact2", "w1"}}, "test.example.com"};

// How many: a few thousand each time, as many as PUPPET_RANDOM says in a campaign.
int campaign(int usual) {
  const char* n = std::getenv("PUPPET_RANDOM");
  return n ? std::atoi(n) : usual;
}

// How often each rule of the paper was applied.
struct Tally : Steps {
  std::map<std::string, u64> rules;
  void step(const RuleStep& s, const std::function<Cells()>&) override { ++rules[s.rule]; }
};

TEST(MuPuppet, RandomManifestsAgreeWithTheCompiler) {
  int good = 0, refused = 0;
  int count = campaign(3000);
  const char* from = std::getenv("PUPPET_SEED");
  int first = from ? std::atoi(from) : 1;
  Tally tally;
  for (int seed = first; seed < first + count; ++seed) {
    std::string manifest = mu::random_manifest(static_cast<u64>(seed));
    Mu reference = run_mu(manifest, kRandomOptions, {}, &tally);
    Compiled real = compile_for_test(manifest, kRandomOptions);
    ASSERT_EQ(reference.ok, real.ok) << "seed " << seed << "\n"
                                     << manifest << "\nreference: " << reference.why << "\ncompiler: " << real.errors;
    if (!real.ok) {
      ++refused;
      continue;
    }
    ++good;
    ASSERT_EQ(reference.resources, real.resources) << "seed " << seed << "\n" << manifest;
  }
  fmt::print("{} made, {} % accepted\n", count, count ? 100 * good / count : 0);
  for (const auto& [rule, n] : tally.rules) fmt::print("  {:<14} {}\n", rule, n);
  EXPECT_GT(good, count / 4);  // the generator must not have gone astray
  EXPECT_GT(refused, count / 50);
}

bool same_state(const mu::State& a, const mu::State& b) {
  if (a.catalog.size() != b.catalog.size() || a.kappa.size() != b.kappa.size() || a.sigma.size() != b.sigma.size())
    return false;
  for (std::size_t n = 0; n < a.catalog.size(); ++n)
    if (a.catalog[n].title != b.catalog[n].title || a.catalog[n].attributes != b.catalog[n].attributes) return false;
  for (const auto& [scope, vars] : a.sigma) {
    auto other = b.sigma.find(scope);
    if (other == b.sigma.end() || other->second.size() != vars.size()) return false;
    for (const auto& [x, v] : vars)
      if (!other->second.count(x) || mu::show(*v) != mu::show(*other->second.at(x))) return false;
  }
  return true;
}

TEST(MuPuppet, Theorem1Determinism) {
  for (int seed = 1; seed <= campaign(400); ++seed) {
    std::string manifest = mu::random_manifest(static_cast<u64>(seed) * 7919);
    Mu a = run_mu(manifest, kRandomOptions), b = run_mu(manifest, kRandomOptions);
    ASSERT_EQ(a.ok, b.ok);
    ASSERT_TRUE(same_state(a.state, b.state)) << manifest;
  }
}

// Definition 2: what is bound stays bound until its define is done, definitions only become declared, catalogs only
// grow.
bool ordered(const mu::State& a, const mu::State& b) {
  for (const auto& [scope, vars] : a.sigma) {
    bool temporary = scope.size() > 4 && scope.compare(scope.size() - 4, 4, " def") == 0;
    for (const auto& [x, v] : vars) {
      auto s = b.sigma.find(scope);
      if (s == b.sigma.end() || !s->second.count(x)) {
        if (!temporary) return false;
        continue;
      }
      if (mu::show(*v) != mu::show(*s->second.at(x))) return false;
    }
  }
  for (const auto& [name, def] : a.kappa) {
    auto d = b.kappa.find(name);
    if (d == b.kappa.end()) return false;
    if (def.kind != d->second.kind && !(def.kind == mu::Def::kClassDef && d->second.kind == mu::Def::kDeclaredClass))
      return false;
    if (def.kind == d->second.kind && def.parent != d->second.parent) return false;
  }
  if (a.catalog.size() > b.catalog.size()) return false;
  for (std::size_t n = 0; n < a.catalog.size(); ++n)
    if (a.catalog[n].type != b.catalog[n].type || a.catalog[n].title != b.catalog[n].title ||
        a.catalog[n].attributes != b.catalog[n].attributes)
      return false;
  return true;
}

TEST(MuPuppet, Theorem3Monotonicity) {
  for (int seed = 1; seed <= campaign(150); ++seed) {
    std::string manifest = mu::random_manifest(static_cast<u64>(seed) * 104729);
    bool good = true;
    run_mu(manifest, kRandomOptions, [&](const mu::State& a, const mu::State& b) { good = good && ordered(a, b); });
    ASSERT_TRUE(good) << manifest;
  }
}

TEST(MuPuppet, InheritanceCycleIsAnErrorInBoth) {
  const char* manifest = "class a inherits b { }\nclass b inherits a { }\ninclude a\n";
  Mu reference = run_mu(manifest, {});
  Compiled real = compile_for_test(manifest);
  EXPECT_FALSE(reference.ok);
  EXPECT_FALSE(real.ok);
  EXPECT_NE(real.errors.find("inherits from itself"), std::string::npos) << real.errors;
}

}  // namespace
}  // namespace tutti::puppet
