// The verb `step`: the published rules, one application after the other. A run is made again for each state that is
// shown, which is how one goes back; nothing is kept but one line a step.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iostream>

#include "cli/output.h"
#include "cli/system_input.h"
#include "cli/watch.h"
#include "format/json.h"

namespace tutti {
namespace {

constexpr OptionSpec kStepOptions[] = {
    {"depth", "N", "the state after N steps, as `krun --depth N` prints it"},
    {"from", "N", "states from step N on"},
    {"to", "N", "states up to step N"},
    {"rule", "NAME", "states after steps by this rule (INCPD, 24, `heat field`)"},
    {"path", "PATH", "states after steps at this path, or below it"},
    {"name", "TEXT", "states after steps of which the line holds this text"},
    {"cell", "NAME", "only these cells of a state", true},
    {"keys", "", "go by keys, as on a terminal: Enter on, b back, a number to that step, /TEXT on to a text, q"},
    {"out", "FORMAT", "text (the default) or json: one object a step", false, 0, "text json"},
    TUTTI_SYSTEM_OPTIONS,
    {"system", "", "step through the system that the files describe (data files: always)"},
};

std::optional<std::size_t> number_of(const std::string& text) {
  std::size_t n = 0;
  auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), n);
  return wrong == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(n) : std::nullopt;
}

// `V (24)` is meant by `V`, `24` and `V (24)`.
bool is_rule(const std::string& rule, const std::string& meant) {
  if (rule == meant) return true;
  std::size_t at = rule.find(meant);
  if (at == std::string::npos || meant.empty()) return false;
  auto apart = [&](std::size_t i) { return i >= rule.size() || rule[i] == ' ' || rule[i] == '(' || rule[i] == ')'; };
  return (at == 0 || apart(at - 1)) && apart(at + meant.size());
}

// `a.b` and `a:b` are the same way; below `a` is `a:b` and not `ab`.
bool is_below(const std::string& path, const std::string& meant) {
  auto plain = [](std::string s) {
    std::ranges::replace(s, ':', '.');
    std::ranges::replace(s, '/', '.');
    return s.starts_with('.') ? s.substr(s.find_first_not_of('.')) : s;
  };
  std::string p = plain(path), m = plain(meant);
  return p == m || (p.starts_with(m) && p[m.size()] == '.');
}

class Stepper {
 public:
  Stepper(Call& call, Watched run) : call_(call), run_(std::move(run)), log_(log_of(run_)) {}

  bool show() {
    const Options& o = call_.options;
    if (auto wrong = wrong_number()) return *wrong;
    if (o.has("keys") || (selects_nothing() && ::isatty(0) == 1 && ::isatty(1) == 1 && !json())) return keys();
    if (auto depth = number_of(o.get("depth"))) return state(std::min(*depth, last()), json());
    bool lines = selects_nothing();
    std::size_t from = number_of(o.get("from")).value_or(0), to = number_of(o.get("to")).value_or(last());
    for (std::size_t n = from; n <= to && n < log_.steps.size(); ++n) {
      if (!selected(log_.steps[n])) continue;
      if (lines && !json())
        call_.out.put(step_line(call_.session, n, log_.steps[n]));
      else
        state(n, true);
    }
    if (log_.cut) call_.out.put(fmt::format("and more: only {} steps are kept\n", log_.steps.size()));
    return true;
  }

 private:
  bool json() const { return call_.options.get("out") == "json"; }
  std::size_t last() const { return log_.steps.empty() ? 0 : log_.steps.size() - 1; }

  bool selects_nothing() const {
    static constexpr std::string_view kSelect[] = {"depth", "from", "to", "rule", "path", "name", "cell"};
    return std::ranges::none_of(kSelect, [&](std::string_view s) { return call_.options.has(s); });
  }

  std::optional<bool> wrong_number() {
    for (const char* name : {"depth", "from", "to"}) {
      if (!call_.options.has(name) || number_of(call_.options.get(name))) continue;
      call_.session.diagnostics.error(
          "USE", {}, fmt::format("--{} takes the number of a step, not `{}`", name, call_.options.get(name)));
      return false;
    }
    return std::nullopt;
  }

  bool selected(const RuleStep& s) const {
    const Options& o = call_.options;
    return (!o.has("rule") || is_rule(s.rule, o.get("rule"))) && (!o.has("path") || is_below(s.path, o.get("path"))) &&
           (!o.has("name") || holds(s, o.get("name")));
  }

  static bool holds(const RuleStep& s, const std::string& text) {
    return s.rule.find(text) != std::string::npos || s.path.find(text) != std::string::npos ||
           s.what.find(text) != std::string::npos;
  }

  Steps::Cells cells_after(std::size_t n) const {
    Steps::Cells cells = state_after(run_, n);
    std::vector<std::string> wanted = call_.options.all("cell");
    if (!wanted.empty())
      std::erase_if(cells, [&](const auto& c) { return std::ranges::find(wanted, c.first) == wanted.end(); });
    return cells;
  }

  // `line`: with the line of the step before it.
  bool state(std::size_t n, bool line) {
    if (n >= log_.steps.size()) return true;
    Steps::Cells cells = cells_after(n);
    if (json()) return put_json(n, cells), true;
    if (line) call_.out.put(step_line(call_.session, n, log_.steps[n]));
    call_.out.put(cells_text(cells));
    return true;
  }

  void put_json(std::size_t n, const Steps::Cells& cells) {
    const RuleStep& s = log_.steps[n];
    auto text = [&](std::string_view key, std::string_view value) {
      call_.out.put(fmt::format(",\"{}\":", key));
      write_json_string(value, false, call_.out);
    };
    call_.out.put(fmt::format("{{\"step\":{}", n));
    text("rule", s.rule);
    text("path", s.path);
    if (std::string at = call_.session.sources->show(s.at.begin); !at.empty()) text("origin", at);
    text("what", s.what);
    call_.out.put(",\"state\":{");
    for (std::size_t k = 0; k < cells.size(); ++k) {
      if (k) call_.out.put(",");
      write_json_string(cells[k].first, false, call_.out);
      call_.out.put(":");
      write_json_string(cells[k].second, false, call_.out);
    }
    call_.out.put("}}\n");
  }

  // What is written goes out at once: somebody waits for it.
  bool keys() {
    std::size_t at = 0;
    for (std::string key;;) {
      std::string text = fmt::format("{}{}[{}/{}] Enter b N /TEXT q > ", step_line(call_.session, at, log_.steps[at]),
                                     cells_text(cells_after(at)), at, last());
      std::cout << text << std::flush;
      if (!std::getline(std::cin, key) || key == "q") break;
      if (key.empty() || key == "n") {
        at = std::min(at + 1, last());
      } else if (key == "b") {
        at -= at > 0;
      } else if (key.starts_with('/')) {
        std::size_t next = at + 1;
        while (next <= last() && !holds(log_.steps[next], key.substr(1))) ++next;
        if (next <= last()) at = next;
      } else if (auto n = number_of(key)) {
        at = std::min(*n, last());
      }
    }
    std::cout << "\n";
    return true;
  }

  Call& call_;
  Watched run_;
  TraceLog log_;
};

int step_system(Call& call) {
  auto input = read_system_input(call, call.arguments);
  if (!input) return exit_code::kError;
  return Stepper(call, watched_system(*input)).show() ? call.code() : exit_code::kError;
}

int run_step(Call& call) {
  bool program = std::ranges::any_of(call.arguments, [](const std::string& f) { return is_program_file(f); });
  if (call.options.has("system") || program) return step_system(call);
  std::vector<Part> parts = call.parts(call.arguments);
  if (parts.empty()) return exit_code::kError;
  if (std::ranges::all_of(parts, [](const Part& p) { return p.language->is_data(); })) return step_system(call);
  if (parts.size() > 1 || !parts[0].language->has_rules()) {
    call.session.diagnostics.error("USE", {}, "one language at a time: each has rules of its own");
    return exit_code::kError;
  }
  // Each run in a session of its own, in which the places are those of the first.
  const Part& part = parts[0];
  Request request{part.files, call.options, false, {}};
  bool first = true;
  Watched run = [&](Steps& steps) {
    Session again(call.manner.limits, call.session.sources);
    Session& session = std::exchange(first, false) ? call.session : again;
    (void)part.language->by_rules(session, request, &steps);
  };
  Stepper stepper(call, run);
  return stepper.show() ? call.code() : exit_code::kError;
}

}  // namespace

extern const Verb step_verb = {
    .name = "step",
    .group = "Configuration",
    .summary = "go through the published rules, one at a time",
    .arguments = "FILE...",
    .details =
        "SmartFrog: the store after each definition that changes it. XML-CDL: each prototype, reference and "
        "expression. "
        "Puppet: the small steps of muPuppet with environment, definitions and catalog. CUE: K-CUE with its cells. "
        "Data "
        "files that describe a system: the configurations of Concerto.\n"
        "Without an option each step is a line; --depth, --from, --to, --rule, --path, --name and --cell show states. "
        "On "
        "a terminal one goes by keys, forward and back.\n"
        "What the rules do not speak of is refused. docs/semantics/ has a page for each system.",
    .examples =
        "$ tutti step site.cue --depth 16\n$ tutti step site.pp --node web1 --rule INCPD --cell environment\n"
        "$ tutti step site.sf --path sfConfig.web --out json",
    .options = kStepOptions,
    .run = run_step,
    .least = 1,
    .reads = true,
};

}  // namespace tutti
