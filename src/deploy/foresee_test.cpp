// What a plan says and what the run then does, on random systems: as many changes, of the same resources and commands.
// TUTTI_ROUNDS says how many pairs.
#include "deploy/foresee.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "deploy/testing.h"
#include "format/yaml.h"

namespace tutti::deploy {
namespace {

u64 pairs(u64 usual) {
  const char* wanted = std::getenv("TUTTI_ROUNDS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : usual;
}

class Foresight : public InFolder {
 protected:
  std::optional<Prepared> prepare(OneCall& c, const std::string& text) {
    auto source = c.session.sources->add("system.yaml", text);
    auto tree = read_yaml(c.session, **source);
    if (!tree) return std::nullopt;
    return c.deployer->prepare(*tree, "", "apply", {});
  }

  // Which commands were run, in order; the log is taken away.
  std::multiset<std::string> commands_run() {
    std::multiset<std::string> all;
    std::ifstream log(dir + "/log");
    for (std::string line; std::getline(log, line);) all.insert(line);
    std::filesystem::remove(dir + "/log");
    return all;
  }
};

// Files and commands in classes, told of each other's changes in every way.
std::string random_catalog(std::mt19937_64& dice, const std::string& dir) {
  auto below = [&](u64 n) { return dice() % n; };
  std::string resources, edges = "['Stage[main]', 'Class[a]'], ['Stage[main]', 'Class[b]']";
  std::vector<std::string> refs;
  u64 n = 2 + below(7);
  for (u64 k = 0; k < n; ++k) {
    std::string title, parameters, type;
    if (below(2)) {
      type = "File", title = fmt::format("{}/f{}", dir, k);
      parameters = below(6) == 0 ? "ensure: absent" : fmt::format("ensure: file, content: 'x{}'", below(3));
      if (below(8) == 0) parameters += ", noop: true";
    } else {
      type = "Exec", title = fmt::format("e{}", k);
      parameters = fmt::format("command: 'echo {0} >> {1}/log', provider: shell", title, dir);
      u64 kind = below(4);
      if (kind == 0) parameters += ", refreshonly: true";
      if (kind == 1)
        parameters = fmt::format("command: 'echo {0} >> {1}/log; touch {1}/f{2}', provider: shell, creates: '{1}/f{2}'",
                                 title, dir, 10 + k);
    }
    std::string relations;
    for (std::string_view how : {"require", "subscribe"})
      if (!refs.empty() && below(2)) {
        std::string other = refs[below(refs.size())];
        // Nobody in the class waits for somebody who waits for the class.
        relations += fmt::format(", {}: ['{}'{}]", how, other, k >= n / 2 && below(4) == 0 ? ", 'Class[a]'" : "");
      }
    bool inside = k < n / 2;
    refs.push_back(fmt::format("{}[{}]", type, title));
    edges += fmt::format(", ['Class[{}]', '{}']", inside ? "a" : "b", refs.back());
    resources += fmt::format("  - {{type: {}, title: '{}', parameters: {{{}{}}}}}\n", type, title, parameters, relations);
  }
  return fmt::format("name: node\nresources:\n  - {{type: Stage, title: main}}\n  - {{type: Class, title: a}}\n"
                     "  - {{type: Class, title: b}}\n{}edges: [{}]\n",
                     resources, edges);
}

TEST_F(Foresight, CatalogsDoWhatTheirPlansSay) {
  u64 compared = 0, refreshed = 0, idle = 0;
  for (u64 seed = 1; seed <= pairs(60) && !HasFailure(); ++seed) {
    std::mt19937_64 dice(seed);
    for (u64 k = 0; k < 12; ++k) std::filesystem::remove(fmt::format("{}/f{}", dir, k));
    for (u64 k = 0; k < 20; k += 1 + dice() % 6) std::ofstream(fmt::format("{}/f{}", dir, k)) << "x" << dice() % 3;
    std::string text = random_catalog(dice, dir);
    for (int again = 0; again < 2; ++again) {
      OneCall c(dir);
      auto p = prepare(c, text);
      ASSERT_TRUE(p) << c.trouble() << text;
      std::multiset<std::string> expected;
      auto plan = foresee(*c.deployer, *p, c.settings.executor);
      for (auto& f : plan) {
        EXPECT_EQ(f.problem, "");
        std::string name = f.resource.substr(f.resource.find('[') + 1);
        name.pop_back();
        if (f.resource.starts_with("Exec") && !f.changes.empty()) expected.insert(name);
        bool checks = f.refresh.find("if its check") != std::string::npos;
        if (f.resource.starts_with("Exec") && !f.refresh.empty() && !checks) expected.insert(name);
        refreshed += !f.refresh.empty();
      }
      Outcome o = c.deployer->run(*p, c.settings);
      EXPECT_TRUE(o.good()) << fmt::format("{}", fmt::join(o.failures, "\n"));
      EXPECT_EQ(o.changed, plan.size()) << "seed " << seed << "\n" << text;
      EXPECT_EQ(commands_run(), expected) << "seed " << seed << "\n" << text;
      ++compared;
      idle += plan.empty();
    }
  }
  fmt::print("{} pairs, {} refreshes, {} without a change\n", compared, refreshed, idle);
  EXPECT_GT(compared, pairs(60));
  EXPECT_GT(refreshed, compared / 4);
}

}  // namespace
}  // namespace tutti::deploy
