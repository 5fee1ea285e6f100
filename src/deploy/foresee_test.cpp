// What a plan says and what the run then does, on random systems: as many changes, of the same resources and commands.
// TUTTI_ROUNDS says how many pairs.
#include "deploy/looking/foresee.h"

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
    resources +=
        fmt::format("  - {{type: {}, title: '{}', parameters: {{{}{}}}}}\n", type, title, parameters, relations);
  }
  return fmt::format(
      "name: node\nresources:\n  - {{type: Stage, title: main}}\n  - {{type: Class, title: a}}\n"
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
      auto plan = foresee(*p, *c.deployer->recorded(p->system), c.settings.executor);
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

// Components that use each other and refer to each other's settings and outputs, and every one of whose actions does
// something that can be seen.
std::string random_components(std::mt19937_64& dice, std::mt19937_64& outputs, const std::string& dir) {
  auto below = [&](u64 n) { return dice() % n; };
  std::string text = "system: s\ncomponents:\n";
  std::vector<std::string> there;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    if (below(4) == 0) continue;
    std::string uses, word = there.empty() ? "none" : fmt::format("${{'{}.word}}", there[below(there.size())]);
    if (below(2)) word = fmt::format("v{}", below(2));
    for (auto& other : there)
      if (below(4) == 0) uses += fmt::format("{0}: {0}, ", other);
    auto log = [&](std::string_view what) {
      return fmt::format("\"echo {} {} {} >> {}/log; echo tutti:word={}\"", name, what, word, dir, outputs() % 4);
    };
    std::string config;
    switch (name[0]) {
      case 'a':
      case 'b':
        config = fmt::format("type: generic, config: {{make: {}, remove: {}}}", log("make"), log("remove"));
        break;
      case 'c':
      case 'd':
        config = fmt::format("type: command, config: {{start: {}, stop: {}}}", log("start"), log("stop"));
        break;
      case 'e': config = fmt::format("type: job, config: {{command: {}}}", log("job")); break;
      // What it refers to may come out as what it was: then there is nothing to do, which no plan can know.
      default:
        config = fmt::format("type: file, config: {{path: {}/file, content: \"{}{}\"}}", dir, word,
                             word[0] == '$' ? fmt::format(" {}", below(1'000'000)) : "");
    }
    text += fmt::format("  {}: {{uses: {{{}}}, {}}}\n", name, uses, config);
    if (name[0] != 'e' && name[0] != 'f') there.emplace_back(name);
  }
  return text;
}

TEST_F(Foresight, SystemsDoWhatTheirPlansSay) {
  u64 compared = 0, changes = 0, removals = 0, followers = 0;
  for (u64 seed = 1; seed <= pairs(32) && !HasFailure(); ++seed) {
    std::mt19937_64 dice(seed / 2), outputs(seed);  // twice the same, but for what their commands give
    std::string text = random_components(dice, outputs, dir);
    OneCall c(dir);
    auto p = prepare(c, text);
    if (!p) continue;  // it refers to an output that nothing has given
    std::string shown = fmt::format("seed {}\n{}", seed, text);
    std::multiset<std::string> said;
    std::set<std::string> goes, may_follow;
    u64 acting = 0;
    for (auto& x : p->plan.changes) {
      shown += fmt::format("{} {}: {}\n", engine::change_word(x.kind), x.component, fmt::join(x.behaviours, ", "));
      acting += x.acts;
      if (x.kind == engine::PlanChange::Kind::kRemove) goes.insert(x.component);
      for (auto& line : x.actions)
        if (line.starts_with("run echo ")) {
          std::string words = line.substr(9, line.find(" >>") - 9);
          std::erase(words, '\'');  // what it refers to stands there as a word of a shell
          said.insert(words);
        }
    }
    for (auto& f : p->plan.followers) may_follow.insert(f.component);
    Outcome o = c.deployer->run(*p, c.settings);
    EXPECT_TRUE(o.good()) << o.wrong << fmt::format("{}", fmt::join(o.failures, "\n"));
    EXPECT_EQ(o.changed, acting) << shown;
    // Of those that go, what was run is what was said.
    std::multiset<std::string> run;
    for (auto& line : commands_run())
      if (goes.count(line.substr(0, 1))) run.insert(line);
    EXPECT_EQ(run, said) << shown;
    bool wrong = false;
    for (auto p2 = c.deployer->follow_up("s", p->wanted, p->plan.flat, wrong); p2 && !p2->empty();
         p2 = c.deployer->follow_up("s", p->wanted, p->plan.flat, wrong)) {
      for (auto& x : p2->plan.changes) {
        bool own = x.kind != engine::PlanChange::Kind::kInterrupt;
        EXPECT_TRUE(!own || may_follow.count(x.component)) << x.component << " follows\n" << shown;
        followers += own;
      }
      EXPECT_TRUE(c.deployer->run(*p2, c.settings).good());
    }
    commands_run();
    EXPECT_FALSE(wrong);
    ++compared;
    changes += acting;
    removals += said.size();
  }
  fmt::print("{} pairs, {} changes, {} commands of removals, {} followed\n", compared, changes, removals, followers);
  EXPECT_GT(compared, pairs(32) / 2);
  EXPECT_GT(removals, compared / 8);
  EXPECT_GT(followers, 0u);
}

}  // namespace
}  // namespace tutti::deploy
