#include "cli/watch.h"

#include <fmt/format.h>

#include "cli/system_input.h"
#include "engine/rules/trace.h"
#include "engine/run/runner.h"
#include "engine/run/simulate.h"

namespace tutti {
namespace {

void run_until_enough(const Watched& run, Steps& steps) {
  try {
    run(steps);
  } catch (const EnoughSteps&) {
  }
}

struct OneState : Steps {
  explicit OneState(std::size_t number) : left(number) {}
  void step(const RuleStep&, const std::function<Cells()>& state) override {
    if (left-- > 0) return;
    cells = state();
    throw EnoughSteps{};
  }
  std::size_t left;
  Cells cells;
};

// A run's steps as the scheduler takes them, each of which the rules must allow.
struct Taken : engine::RunListener {
  std::vector<std::pair<double, engine::Step>> steps;
  void step(double at, const engine::Step& s) override { steps.emplace_back(at, s); }
};

}  // namespace

TraceLog log_of(const Watched& run, std::size_t most) {
  TraceLog log(most);
  run_until_enough(run, log);
  return log;
}

Steps::Cells state_after(const Watched& run, std::size_t number) {
  OneState one(number);
  run_until_enough(run, one);
  return one.cells;
}

std::string step_line(const Session& session, std::size_t number, const RuleStep& step) {
  std::string at = session.sources->show(step.at.begin);
  std::string line = fmt::format("{:>5}  {:<16}  {:<20}  {}{}", number, step.rule, step.path, step.what,
                                 at.empty() ? "" : fmt::format("  ({})", at));
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string cells_text(const Steps::Cells& cells) {
  std::string out;
  for (const auto& [name, text] : cells) {
    std::string open = fmt::format("<{}> ", name);
    out += open;
    for (char c : text) {
      out += c;
      if (c == '\n') out.append(open.size(), ' ');
    }
    out += fmt::format("{}</{}>\n", text.empty() ? "" : " ", name);
  }
  return out;
}

Watched watched_system(const SystemInput& input) {
  const model::System& system = input.system;
  Taken taken;
  engine::SimulatedExecutor executor([&](const engine::ActionRequest& r) {
    engine::SimulatedExecutor::Fate f;
    f.duration = system.duration(r.instance, system.type_of(r.instance).transitions[r.transition]).mean();
    return f;
  });
  engine::Runner(system, executor, {}, nullptr, &taken).run();
  return [&system, steps = std::move(taken.steps)](Steps& watcher) {
    engine::Rules rules(system);
    engine::RuleTrace trace(rules, watcher);
    for (const auto& [at, step] : steps) {
      if (trace.take(step, fmt::format(", at {:.6g} s", at))) continue;
      watcher.step({"not allowed", "", {}, engine::step_words(system, step)}, [] { return Steps::Cells{}; });
      return;
    }
  };
}

}  // namespace tutti
