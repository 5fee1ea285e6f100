#include "engine/verify/verify.h"

#include <fmt/format.h>

#include <charconv>

#include "cli/system_input.h"
#include "engine/estimate/graph.h"

namespace tutti {
namespace {

using namespace engine;

constexpr OptionSpec kVerifyOptions[] = {
    {"out", "FORMAT", "text (the default), json or yaml"},
    TUTTI_SYSTEM_OPTIONS,
    {"property", "TEXT", "something that must hold (`always web.service or web.stopped`)", true},
    {"full", "", "also look at every interleaving, without reduction, and count the states"},
    {"failures", "N", "let up to N actions fail"},
    {"max-states", "N", "give up a full search after so many states (default 3000000)"},
};

void read_properties(Call& call, const SystemInput& in, std::vector<Property>& properties) {
  auto add = [&](std::string name, std::string text) {
    auto source = call.session.sources->add(std::move(name), std::move(text));
    if (!source) return;
    if (auto p = parse_property(call.session, in.system, **source)) properties.push_back(std::move(*p));
  };
  for (const std::string& text : call.options.all("property")) add("--property", text);
  const Entry* e = in.root.find("properties");
  if (!e) return;
  auto one = [&](const Value& v) {
    if (v.is(Kind::kString))
      add("property at " + call.session.sources->show(call.session.origins.nearest(v.origin())), std::string(v.text()));
    else
      call.session.diagnostics.error("VERIFY-PROPERTY", call.session.origins.nearest(v.origin()),
                                     "a property is written as text");
  };
  if (e->value.is(Kind::kList))
    for (const Value& v : e->value.items()) one(v);
  else if (e->value.is(Kind::kMap))
    for (const Entry& x : e->value.entries()) one(x.value);
  else
    one(e->value);
}

std::string show_example(const model::System& system, const Counterexample& c) {
  std::string t = fmt::format("{}: does not hold, after {} steps{}:\n", c.property, c.steps.size(),
                              c.shortest ? " (no shorter way)" : "");
  // A column a instance would be wide: who acts is at the left, what it does beside it.
  std::size_t width = 7;
  for (const Step& s : c.steps)
    if (s.instance != kNone) width = std::max(width, system.instances[s.instance].name.text().size());
  for (std::size_t k = 0; k < c.steps.size(); ++k) {
    const Step& s = c.steps[k];
    std::string_view who = s.instance == kNone ? "program" : system.instances[s.instance].name.text();
    t += fmt::format("{:>5}  {:<{}}  {}\n", k + 1, who, width, step_words(system, s));
  }
  t += "then\n";
  for (const std::string& line : c.state) t += fmt::format("       {}\n", line);
  return t;
}

int run_verify(Call& call) {
  auto in = read_system_input(call, call.arguments);
  if (!in) return exit_code::kError;
  const model::System& system = in->system;
  std::vector<Property> properties;
  read_properties(call, *in, properties);
  if (!call.session.diagnostics.ok()) return exit_code::kError;
  VerifyOptions options;
  options.budget = &call.session.budget;
  std::string text = call.options.get("failures");
  std::from_chars(text.data(), text.data() + text.size(), options.failures);
  VerifyReport report = verify(system, properties, options);
  Graph graph(system);

  // The full search follows the printed rules, in which `del` waits for nothing. Where that makes a difference
  // (orphans) the verdict is still about what the engine does.
  VerifyReport full;
  bool both = call.options.has("full");
  if (both) {
    VerifyOptions all = options;
    all.full = true;
    all.del_waits = false;
    all.most_states = 3'000'000;
    text = call.options.get("max-states");
    std::from_chars(text.data(), text.data() + text.size(), all.most_states);
    full = verify(system, properties, all);
    if (full.complete && full.orphans == 0 && full.deadlock_free != report.deadlock_free)
      call.session.diagnostics.error("VERIFY-DISAGREE", {},
                                     "the reduced and the full search disagree: this is a bug of the reduction");
  }
  bool good = report.deadlock_free && report.complete;
  for (const Verdict& v : report.verdicts) good = good && v.holds;
  int code = good ? exit_code::kOk : exit_code::kFailed;

  std::string output = call.options.get("out", "text");
  if (output != "text") {
    TreeMaker make(call.session);
    std::vector<Value> verdicts, examples;
    for (const Verdict& v : report.verdicts)
      verdicts.push_back(make.map({{"property", make.text(v.property.text)}, {"holds", Value::boolean(v.holds)}}));
    for (const Counterexample& c : report.counterexamples) {
      std::vector<std::string> steps;
      for (const Step& s : c.steps) steps.push_back(step_text(system, s));
      examples.push_back(make.map({{"property", make.text(c.property)},
                                   {"shortest", Value::boolean(c.shortest)},
                                   {"steps", make.list(steps)},
                                   {"state", make.list(c.state)}}));
    }
    MapDraft d;
    auto set = [&](std::string_view k, const Value& v) { d.set(Symbol(k), v); };
    set("deadlock_free", Value::boolean(report.deadlock_free));
    set("complete", Value::boolean(report.complete));
    set("states", make.integer(static_cast<i64>(both ? full.states : report.states)));
    if (both)
      set("full", make.map({{"complete", Value::boolean(full.complete)},
                            {"states", make.integer(static_cast<i64>(full.states))},
                            {"steps", make.integer(static_cast<i64>(full.steps))},
                            {"ends", make.integer(static_cast<i64>(full.ends))},
                            {"deadlocks", make.integer(static_cast<i64>(full.deadlocks))},
                            {"orphans", make.integer(static_cast<i64>(full.orphans))}}));
    set("states_reduced", make.integer(static_cast<i64>(report.states)));
    if (report.parts) set("parts", make.integer(report.parts));
    set("ends", make.integer(static_cast<i64>(report.ends)));
    set("deadlocks", make.integer(static_cast<i64>(report.deadlocks)));
    if (options.failures) set("failed_ends", make.integer(static_cast<i64>(report.failed_ends)));
    set("one_safe", Value::boolean(report.one_safe && (!both || full.one_safe)));
    set("properties", make.list(verdicts));
    set("findings", make.list(graph.stuck()));
    set("counterexamples", make.list(examples));
    return write_answer(call, d.build(make.builder()), output) ? code : exit_code::kError;
  }
  std::string t;
  t += fmt::format("{} looked at{}{}\n", counted(report.states, "state"),
                   report.parts ? fmt::format(", {} by itself", report.parts == 1 ? "one part" : "each part") : "",
                   report.complete
                       ? fmt::format(", which {} for all interleavings", report.states == 1 ? "stands" : "stand")
                       : ": too many, not all were looked at");
  if (both)
    t += fmt::format(
        "{}{} states without reduction, {} steps, {} ends{}\n", full.states, full.complete ? "" : " (and more)",
        full.steps, full.ends,
        full.orphans ? fmt::format(", {} in which an instance is deleted while it works", full.orphans) : "");
  t += fmt::format("deadlock-free  {}\n", !report.deadlock_free ? "no" : report.complete ? "yes" : "so far");
  if (!report.one_safe) t += "note: two tokens can meet in one place, and one of them is lost\n";
  if (options.failures)
    t += fmt::format("with up to {}: {} of {} with a failed action\n", counted(options.failures, "failure"),
                     report.failed_ends, counted(report.ends, "end"));
  for (const Verdict& v : report.verdicts)
    t += fmt::format("{}  {}\n", v.holds ? "holds  " : "BROKEN ", v.property.text);
  for (const std::string& s : graph.stuck()) t += fmt::format("found: {}\n", s);
  for (const Counterexample& c : report.counterexamples) t += "\n" + show_example(system, c);
  call.out.put(t);
  return code;
}

}  // namespace

extern const Verb verify_verb = {
    .name = "verify",
    .group = "Running",
    .summary = "prove that a program cannot go wrong, or show how it can",
    .arguments = "SYSTEM... [PROGRAM]",
    .details =
        "Looks at every interleaving and every outcome of a switch: no deadlock, and each property given in "
        "`properties` or\n"
        "with --property. What does not hold comes with the shortest way to get there.\n"
        "Properties: always EXPR, never EXPR, finally EXPR, reachable EXPR, EVENT before EVENT, between EVENT and "
        "EVENT never\n"
        "EVENT. EXPR is made of NAME.PLACE, NAME.PORT, NAME.TRANSITION, idle(NAME), not, and, or, ->, count(...) <= N; "
        "NAME may\n"
        "be `*`. EVENT is enter or leave NAME.PLACE, start or end NAME.TRANSITION, finish NAME.BEHAVIOUR.",
    .examples =
        "$ tutti verify system.yaml\n$ tutti verify --property 'never count(*.master) >= 2' system.yaml\n$ tutti "
        "verify --failures 1 system.yaml",
    .options = kVerifyOptions,
    .run = run_verify,
    .least = 1,
    .reads = true,
};

}  // namespace tutti
