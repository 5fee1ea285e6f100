// The verb `agree`: a configuration by the published rules and by what users run, or a system by the rules of Concerto
// and by the engine. Where they differ one of them is wrong: the first difference is told, with how each came to it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "cli/output.h"
#include "cli/system_input.h"
#include "cli/watch.h"
#include "engine/rules/rules.h"
#include "engine/verify/verify.h"
#include "tree/diff.h"
#include "tree/show.h"

namespace tutti {
namespace {

constexpr OptionSpec kAgreeOptions[] = {
    TUTTI_SYSTEM_OPTIONS,
    {"system", "", "compare the rules of Concerto with the engine on the system that the files describe"},
    {"max-states", "N", "of a system: give up the full search after so many states (default 3000000)"},
};

// Diagnostics that say what the rules do not speak of, that they came to no end, or that something could not be read.
bool says_nothing(const Session& session) {
  return std::ranges::any_of(session.diagnostics.all(), [](const Diagnostic& d) {
    return d.code == "REF-OUTSIDE" || d.code == "USE-REFERENCE" || d.code == "REF-UNDECIDED" || d.code == "PP-FACTS" ||
           d.code.starts_with("IO-");
  });
}

std::set<std::string> error_codes(const Session& session) {
  std::set<std::string> codes;
  for (const Diagnostic& d : session.diagnostics.all())
    if (d.severity == Severity::kError) codes.insert(d.code);
  return codes;
}

void take_over(Call& call, const Session& from) {
  for (const Diagnostic& d : from.diagnostics.all()) {
    Diagnostic& copy = call.session.diagnostics.add(d.severity, d.code, d.where, d.message);
    copy.notes = d.notes, copy.help = d.help;
  }
}

// Both sides of one language's files.
struct Sides {
  explicit Sides(Call& call)
      : fast(call.manner.limits, call.session.sources), slow(call.manner.limits, call.session.sources) {}
  Session fast, slow;
  std::optional<Value> by_compiler, by_rules;
  bool compiler_refuses() const { return !by_compiler || !fast.diagnostics.ok(); }
  bool rules_refuse() const { return !by_rules || !slow.diagnostics.ok(); }
};

// The last steps of the rules that have to do with a path; of all, where none has.
void put_steps(Call& call, const Watched& run, const std::string& path) {
  constexpr std::size_t kMost = 12;
  TraceLog log = log_of(run);
  std::string last = path.substr(path.find_last_of(".]") == std::string::npos ? 0 : path.find_last_of(".") + 1);
  std::vector<std::size_t> about;
  for (std::size_t n = 0; n < log.steps.size(); ++n)
    if (!path.empty() &&
        (log.steps[n].path.find(last) != std::string::npos || log.steps[n].what.find(last) != std::string::npos))
      about.push_back(n);
  if (about.empty())
    for (std::size_t n = 0; n < log.steps.size(); ++n) about.push_back(n);
  if (about.size() > kMost) about.erase(about.begin(), about.end() - kMost);
  call.out.put("by the rules:\n");
  for (std::size_t n : about) call.out.put(step_line(call.session, n, log.steps[n]));
}

void put_errors(Call& call, std::string_view who, const Session& session) {
  call.out.put(fmt::format("{}:\n", who));
  for (const Diagnostic& d : session.diagnostics.all())
    if (d.severity == Severity::kError) call.out.put(render(d, *session.sources, DiagnosticStyle::kLine, false));
}

int refusals(Call& call, const Sides& s, const std::string& name, const Watched& run) {
  std::set<std::string> fast = error_codes(s.fast), slow = error_codes(s.slow);
  // What has no number in the paper is only known to be an error.
  std::erase_if(slow, [](const std::string& c) { return c.starts_with("REF-"); });
  bool same = s.compiler_refuses() && s.rules_refuse() && std::ranges::includes(fast, slow);
  if (same) {
    call.out.put(
        fmt::format("{}: both refuse it{}\n", name, slow.empty() ? "" : fmt::format(" ({})", fmt::join(slow, ", "))));
    return exit_code::kOk;
  }
  call.out.put(fmt::format("{}: {}\n", name,
                           !s.rules_refuse()       ? "the rules accept what the compiler refuses"
                           : !s.compiler_refuses() ? "the compiler accepts what the rules refuse"
                                                   : "they refuse it for different reasons"));
  if (s.rules_refuse()) put_errors(call, "the rules say", s.slow);
  if (s.compiler_refuses()) put_errors(call, "the compiler says", s.fast);
  put_steps(call, run, "");
  return exit_code::kContradiction;
}

int compare_part(Call& call, const Part& part) {
  std::string name = fmt::format("{}", fmt::join(part.files, " "));
  Sides s(call);
  Request request{part.files, call.options, false, {}};
  s.by_rules = part.language->by_rules(s.slow, request, nullptr);
  if (says_nothing(s.slow)) {
    take_over(call, s.slow);
    return exit_code::kError;
  }
  s.by_compiler = part.language->as_rules_say(s.fast, request);
  Watched run = [&](Steps& steps) {
    Session again(call.manner.limits, call.session.sources);
    (void)part.language->by_rules(again, request, &steps);
  };
  if (s.compiler_refuses() || s.rules_refuse()) return refusals(call, s, name, run);
  std::vector<Difference> found = diff(*s.by_rules, *s.by_compiler, part.language->rules_have_order());
  if (found.empty()) {
    call.out.put(fmt::format("{}: the rules and the compiler agree\n", name));
    return exit_code::kOk;
  }
  const Difference& d = found[0];
  std::string path = d.path.text();
  auto told = [](const Value* v) { return v ? show(*v) : std::string("nothing"); };
  bool order = d.change == Change::kReordered;
  call.out.put(fmt::format("{}: {} of {} differ; the first is {}: {}\n", name, found.size(),
                           found.size() == 1 ? "place" : "places", path.empty() ? "the whole" : path,
                           order ? "another order of keys"
                                 : fmt::format("{} by the rules, {} by the compiler", told(d.before), told(d.after))));
  put_steps(call, run, path);
  call.out.put("by the compiler:\n");
  if (d.after) call.out.put(story(s.fast, *d.after, false));
  return exit_code::kContradiction;
}

int compare_system(Call& call) {
  auto input = read_system_input(call, call.arguments);
  if (!input) return exit_code::kError;
  std::string name = fmt::format("{}", fmt::join(call.arguments, " "));
  TraceLog log = log_of(watched_system(*input));
  if (!log.steps.empty() && log.steps.back().rule == "not allowed") {
    call.out.put(fmt::format("{}: the engine takes a step that the rules do not allow\n", name));
    std::size_t first = log.steps.size() > 8 ? log.steps.size() - 8 : 0;
    for (std::size_t n = first; n < log.steps.size(); ++n) call.out.put(step_line(call.session, n, log.steps[n]));
    return exit_code::kContradiction;
  }
  engine::VerifyOptions options;
  engine::VerifyReport reduced = engine::verify(input->system, {}, options);
  options.full = true;
  options.most_states = 3'000'000;
  std::string most = call.options.get("max-states");
  std::from_chars(most.data(), most.data() + most.size(), options.most_states);
  engine::VerifyReport full = engine::verify(input->system, {}, options);
  std::vector<std::string> differ = engine::contradictions(reduced, full);
  if (!differ.empty()) {
    call.out.put(fmt::format("{}: the two searches contradict each other: {}\n", name, differ[0]));
    call.out.put("`tutti verify --full` shows the way to it\n");
    return exit_code::kContradiction;
  }
  call.out.put(
      fmt::format("{}: the rules allow all {} steps of the engine; {} states{} say what the reduced search "
                  "says with {}\n",
                  name, log.steps.size() - 1, full.states, full.complete ? "" : " (not all)", reduced.states));
  return exit_code::kOk;
}

int run_agree(Call& call) {
  bool program = std::ranges::any_of(call.arguments, [](const std::string& f) { return is_program_file(f); });
  if (call.options.has("system") || program) return compare_system(call);
  std::vector<Part> parts = call.parts(call.arguments);
  if (parts.empty()) return exit_code::kError;
  if (std::ranges::all_of(parts, [](const Part& p) { return p.language->is_data(); })) return compare_system(call);
  int worst = exit_code::kOk;
  for (const Part& part : parts) {
    // A language that takes several files together gets them together; of others each is a configuration.
    bool together = part.language->name() == "cue" || part.language->name() == "puppet";
    std::vector<Part> ones;
    for (const std::string& file : part.files)
      if (!together) ones.push_back({part.language, {file}});
    if (together) ones.push_back(part);
    for (const Part& one : ones) worst = std::max(worst, compare_part(call, one));
  }
  return worst;
}

}  // namespace

extern const Verb agree_verb = {
    .name = "agree",
    .group = "Configuration",
    .summary = "compare the published rules with what runs",
    .arguments = "FILE...",
    .details =
        "Both evaluate the files, and their results are compared: the store of SmartFrog, the resolved document of "
        "XML-CDL, the catalog's resources of Puppet, the value of CUE. Of a system the engine's run is played against "
        "the rules of Concerto, and the proofs of the reduced search against a search that leaves nothing out.\n"
        "Where they differ the first difference is told with both ways to it. What the rules do not speak of is "
        "refused.\n"
        "Exit code 0: they agree, 1: the files cannot be compared, 70: they differ, which is a mistake in tutti.",
    .examples = "$ tutti agree site.sf other.sf\n$ tutti agree site.pp --node web1 --facts facts.yaml",
    .options = kAgreeOptions,
    .run = run_agree,
    .least = 1,
    .reads = true,
};

}  // namespace tutti
