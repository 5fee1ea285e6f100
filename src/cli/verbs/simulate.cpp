#include "engine/run/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>

#include "base/file.h"
#include "base/near.h"
#include "cli/output.h"
#include "cli/system_input.h"
#include "engine/report/gantt.h"
#include "engine/run/runner.h"
#include "format/write.h"

namespace tutti {
namespace {

using namespace engine;

constexpr OptionSpec kSimulateOptions[] = {
    {"out", "FORMAT",
     "text (a Gantt chart, the default), svg, trace (Chrome trace), stats (of the engine itself), json or yaml", false,
     0, "text svg trace stats json yaml toml xml leaves"},
    TUTTI_SYSTEM_OPTIONS,
    {"parallel", "N", "at most so many actions at once"},
    {"fail", "INSTANCE.TRANSITION", "let this action fail", true},
    {"outcome", "INSTANCE.TRANSITION=NAME", "let a switch end so", true},
    {"continue", "", "the program goes on past instances that failed"},
    {"replay", "FILE",
     "go the steps of a counterexample that `tutti verify --out json` wrote; each takes one unit of time"},
    {"width", "COLUMNS", "of the text chart (default 100)"},
};

// The steps of the first counterexample in the answer of `verify`, or of one alone, or just a list of steps.
std::optional<std::vector<Step>> read_steps(Call& call, const model::System& system, const std::string& file) {
  std::vector<std::string> files{file};
  Evaluated e = evaluate_files(call, files, true);
  if (!e.value || !call.session.diagnostics.ok()) return std::nullopt;
  auto all = documents(*e.value);
  Value v = all.empty() ? Value::null() : all[0];
  auto place = [&] { return call.session.origins.nearest(v.origin()); };
  if (const Entry* c = v.is(Kind::kMap) ? v.find("counterexamples") : nullptr) {
    if (!c->value.is(Kind::kList) || c->value.items().empty()) {
      call.session.diagnostics.error("REPLAY-NOTHING", place(),
                                     "there is no counterexample in this answer: everything holds");
      return std::nullopt;
    }
    v = c->value.items()[0];
  }
  if (const Entry* x = v.is(Kind::kMap) ? v.find("steps") : nullptr) v = x->value;
  if (!v.is(Kind::kList)) {
    call.session.diagnostics.error("REPLAY-FORM", place(),
                                   "expected the answer of `tutti verify --out json`, or a list of steps");
    return std::nullopt;
  }
  std::vector<Step> steps;
  u32 pc = 0;
  for (const Value& item : v.items()) {
    auto step = item.is(Kind::kString) ? step_from_text(system, item.text(), pc) : std::nullopt;
    if (!step) {
      call.session.diagnostics
          .error("REPLAY-STEP", call.session.origins.nearest(item.origin()),
                 fmt::format("this system has no step `{}` here", item.is(Kind::kString) ? item.text() : "?"))
          .suggest("give the same files and --set as to `tutti verify`");
      return std::nullopt;
    }
    if (step->kind == Step::Kind::kInstruction) ++pc;
    steps.push_back(*step);
  }
  return steps;
}

int run_simulate(Call& call) {
  auto in = read_system_input(call, call.arguments);
  if (!in) return exit_code::kError;
  const model::System& system = in->system;
  RunOptions options;
  std::string p = call.options.get("parallel");
  std::from_chars(p.data(), p.data() + p.size(), options.parallel);
  if (call.options.has("continue")) options.on_failure = OnFailure::kContinue;
  std::vector<std::string> fail = call.options.all("fail"), outcome = call.options.all("outcome");
  std::vector<std::string> actions;
  for (u32 i = 0; i < system.instances.size(); ++i)
    for (u32 t = 0; t < system.type_of(i).transitions.size(); ++t) actions.push_back(system.transition_text(i, t));
  std::vector<std::string> named = fail;
  for (const std::string& x : outcome) named.push_back(x.substr(0, x.find('=')));
  for (const std::string& x : named)
    if (std::find(actions.begin(), actions.end(), x) == actions.end()) {
      call.session.diagnostics.error("SIMULATE-ACTION", {}, fmt::format("there is no action `{}`", x))
          .did_you_mean(nearest(x, std::vector<std::string_view>(actions.begin(), actions.end())));
      return exit_code::kError;
    }
  SimulatedExecutor executor([&](const ActionRequest& r) {
    SimulatedExecutor::Fate f;
    f.duration = system.duration(r.instance, system.type_of(r.instance).transitions[r.transition]).mean();
    if (fail.empty() && outcome.empty()) return f;
    std::string name = system.transition_text(r.instance, r.transition);
    for (const std::string& x : fail)
      if (x == name) f.how = engine::How::kFailed;
    for (const std::string& x : outcome)
      if (x.size() > name.size() && x.starts_with(name) && x[name.size()] == '=') f.outcome = x.substr(name.size() + 1);
    return f;
  });
  std::optional<std::vector<Step>> steps;
  if (call.options.has("replay") && !(steps = read_steps(call, system, call.options.get("replay"))))
    return exit_code::kError;
  timespec before, after;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  Runner runner(system, executor, options);
  RunReport report = steps ? runner.replay(*steps) : runner.run();
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  if (steps && report.steps < steps->size()) {
    call.session.diagnostics.error("REPLAY-REFUSED", {},
                                   fmt::format("the engine does not allow step {}: {}", report.steps + 1,
                                               step_words(system, (*steps)[report.steps])));
    return exit_code::kError;
  }
  int code = report.finished ? exit_code::kOk : exit_code::kFailed;
  std::string output = call.options.get("out", "text");
  if (output == "text") {
    if (steps) {
      u64 number = 0;
      for (const Step& s : *steps) call.out.put(fmt::format("{:>5}  {}\n", ++number, step_words(system, s)));
    }
    u32 width = 100;
    std::string w = call.options.get("width");
    std::from_chars(w.data(), w.data() + w.size(), width);
    call.out.put(gantt_text(system, report, width));
    call.out.put(account_text(system, runner, report));
  } else if (output == "stats") {
    double cpu =
        static_cast<double>(after.tv_sec - before.tv_sec) + static_cast<double>(after.tv_nsec - before.tv_nsec) * 1e-9;
    double n = static_cast<double>(std::max<std::size_t>(system.instances.size(), 1));
    std::size_t bytes = runner.scheduler().bytes() + system.instances.size() * (sizeof(model::Instance) + 32) +
                        system.program.size() * sizeof(model::Instruction) + system.links.size() * sizeof(model::Link);
    call.out.put(
        fmt::format("components {}\nactions {}\nsteps {}\ncpu_seconds {:.6f}\nmicroseconds_per_action "
                    "{:.3f}\nmicroseconds_per_step {:.3f}\n"
                    "bytes_per_component {:.0f}\n",
                    system.instances.size(), report.actions.size(), report.steps, cpu,
                    cpu * 1e6 / static_cast<double>(std::max<std::size_t>(report.actions.size(), 1)),
                    cpu * 1e6 / static_cast<double>(std::max<u64>(report.steps, 1)), static_cast<double>(bytes) / n));
  } else if (output == "svg") {
    call.out.put(gantt_svg(system, report));
  } else if (output == "trace") {
    call.out.put(chrome_trace(system, report));
  } else {
    return write_answer(call, report_tree(call.session, system, runner, report), output) ? code : exit_code::kError;
  }
  return code;
}

}  // namespace

extern const Verb simulate_verb = {
    .name = "simulate",
    .group = "Running",
    .summary = "run a program with its expected durations, in no time",
    .arguments = "SYSTEM... [PROGRAM]",
    .details =
        "The engine itself runs, with a clock that jumps. Shows what runs when, and where everything is in "
        "the end.\n"
        "`--replay` makes it go the steps of a counterexample instead of its own.\n"
        "`--out trace` writes a file for chrome://tracing or ui.perfetto.dev.",
    .examples =
        "$ tutti simulate system.yaml\n$ tutti simulate --out svg -o run.svg system.yaml\n$ tutti simulate --fail "
        "db.start system.yaml\n$ tutti verify --out json system.yaml > bad.json\n$ tutti simulate --replay bad.json "
        "system.yaml",
    .options = kSimulateOptions,
    .run = run_simulate,
    .least = 1,
    .reads = true,
};

}  // namespace tutti
