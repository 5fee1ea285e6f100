// The verb `verify`: proves what it says or shows how it goes wrong. What could not be looked at completely is shown as
// open, in text and in JSON (null), never as holding. With --full the answer is searched for twice, with the reductions
// and without; where the two contradict each other the worse answer is shown and the exit code is one of its own,
// because then a proof of ours is wrong and nobody should go by it.
#include "engine/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/system_input.h"
#include "cli/wording.h"
#include "engine/estimate/graph.h"

namespace tutti {
namespace {

using namespace engine;

constexpr OptionSpec kVerifyOptions[] = {
    kTellOption,
    TUTTI_SYSTEM_OPTIONS,
    {"property", "TEXT", "something that must hold (`always web.service or web.stopped`)", true},
    {"full", "", "also look at every interleaving, without reduction, and count the states"},
    {"failures", "N", "let up to N actions fail"},
    {"max-states", "N", "give up a search after so many states (default 20000000, with --full 3000000)"},
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

// What was asked and what was found: by the reduced search, and with --full by the one that leaves nothing out.
struct Findings {
  const model::System& system;
  u32 failures = 0;
  VerifyReport report, full;
  bool both = false;
  std::vector<std::string> contradictions, stuck;

  // Of two answers that differ the worse one.
  Answer worse(Answer a, Answer b) const { return !both || a == Answer::kNo || b == Answer::kOpen ? a : b; }
  Answer never_stuck() const { return worse(report.never_stuck(), full.never_stuck()); }
  Answer one_safe() const { return worse(report.tokens_never_meet(), full.tokens_never_meet()); }
  Answer holds(std::size_t k) const {
    return worse(report.verdicts[k].holds, both ? full.verdicts[k].holds : Answer::kOpen);
  }
  // The way to what is wrong: the reduced search's, or that of the full one alone.
  std::vector<Counterexample> examples() const {
    std::vector<Counterexample> all = report.counterexamples;
    for (const Counterexample& c : full.counterexamples)
      if (!contradictions.empty() &&
          std::none_of(all.begin(), all.end(), [&](const Counterexample& x) { return x.property == c.property; }))
        all.push_back(c);
    return all;
  }
  int code() const {
    if (!contradictions.empty()) return exit_code::kContradiction;
    bool good = never_stuck() == Answer::kYes;
    for (std::size_t k = 0; k < report.verdicts.size(); ++k) good = good && holds(k) == Answer::kYes;
    return good ? exit_code::kOk : exit_code::kFailed;
  }
};

// The full search follows the printed rules, in which `del` waits for nothing. Where that makes a difference (orphans)
// it is another question, and its answers are not ours.
void look_at_all(Call& call, Findings& f, const std::vector<Property>& properties, VerifyOptions options) {
  options.full = true;
  options.del_waits = false;
  if (!call.options.has("max-states")) options.most_states = 3'000'000;
  f.full = verify(f.system, properties, options);
  f.both = f.full.orphans == 0;
  if (!f.both) return;
  f.contradictions = contradictions(f.report, f.full);
  if (f.contradictions.empty()) return;
  Diagnostic& d = call.session.diagnostics.error(
      "VERIFY-DISAGREE", {}, "the reduced and the full search contradict each other: this is a mistake in tutti");
  for (const std::string& line : f.contradictions) d.note(line);
  d.suggest("go by the worse answer, and report the system");
}

Value verify_tree(Call& call, const Findings& f, bool full) {
  TreeMaker make(call.session);
  auto answer = [](Answer a) { return a == Answer::kOpen ? Value::null() : Value::boolean(a == Answer::kYes); };
  std::vector<Value> verdicts, examples;
  for (std::size_t k = 0; k < f.report.verdicts.size(); ++k)
    verdicts.push_back(
        make.map({{"property", make.text(f.report.verdicts[k].property.text)}, {"holds", answer(f.holds(k))}}));
  for (const Counterexample& c : f.examples()) {
    std::vector<std::string> steps;
    for (const Step& s : c.steps) steps.push_back(step_text(f.system, s));
    examples.push_back(make.map({{"property", make.text(c.property)},
                                 {"shortest", Value::boolean(c.shortest)},
                                 {"steps", make.list(steps)},
                                 {"state", make.list(c.state)}}));
  }
  MapDraft d;
  auto set = [&](std::string_view k, const Value& v) { d.set(Symbol(k), v); };
  set("deadlock_free", answer(f.never_stuck()));
  set("complete", Value::boolean(f.report.complete));
  set("states", make.integer(static_cast<i64>(full ? f.full.states : f.report.states)));
  if (full)
    set("full", make.map({{"complete", Value::boolean(f.full.complete)},
                          {"states", make.integer(static_cast<i64>(f.full.states))},
                          {"steps", make.integer(static_cast<i64>(f.full.steps))},
                          {"ends", make.integer(static_cast<i64>(f.full.ends))},
                          {"deadlocks", make.integer(static_cast<i64>(f.full.deadlocks))},
                          {"orphans", make.integer(static_cast<i64>(f.full.orphans))}}));
  set("states_reduced", make.integer(static_cast<i64>(f.report.states)));
  if (f.report.parts) set("parts", make.integer(f.report.parts));
  set("ends", make.integer(static_cast<i64>(f.report.ends)));
  set("deadlocks", make.integer(static_cast<i64>(f.report.deadlocks)));
  if (f.failures) set("failed_ends", make.integer(static_cast<i64>(f.report.failed_ends)));
  set("one_safe", answer(f.one_safe()));
  set("properties", make.list(verdicts));
  set("findings", make.list(f.stuck));
  set("counterexamples", make.list(examples));
  if (!f.contradictions.empty()) set("contradictions", make.list(f.contradictions));
  return d.build(make.builder());
}

std::string verify_text(const Findings& f, bool full) {
  const VerifyReport& r = f.report;
  std::string t =
      fmt::format("{} looked at{}{}\n", counted(r.states, "state"),
                  r.parts ? fmt::format(", {} by itself", r.parts == 1 ? "one part" : "each part") : "",
                  r.complete ? fmt::format(", which {} for all interleavings", r.states == 1 ? "stands" : "stand")
                             : ": too many, not all were looked at");
  if (full)
    t += fmt::format(
        "{}{} states without reduction, {} steps, {} ends{}\n", f.full.states, f.full.complete ? "" : " (and more)",
        f.full.steps, f.full.ends,
        f.full.orphans ? fmt::format(", {} in which an instance is deleted while it works", f.full.orphans) : "");
  Answer free = f.never_stuck();
  t += fmt::format("deadlock-free  {}\n", free == Answer::kOpen ? "so far" : answer_word(free));
  if (f.one_safe() == Answer::kNo) t += "note: two tokens can meet in one place, and one of them is lost\n";
  if (f.failures)
    t += fmt::format("with up to {}: {} of {} with a failed action\n", counted(f.failures, "failure"), r.failed_ends,
                     counted(r.ends, "end"));
  for (std::size_t k = 0; k < r.verdicts.size(); ++k) {
    const Property& p = r.verdicts[k].property;
    bool open = f.holds(k) == Answer::kOpen;
    t += fmt::format("{}  {}{}\n",
                     open                         ? "open   "
                     : f.holds(k) == Answer::kYes ? "holds  "
                                                  : "BROKEN ",
                     p.text,
                     !open                                  ? ""
                     : p.kind == Property::Kind::kReachable ? "  (not reached so far)"
                                                            : "  (not seen broken so far)");
  }
  for (const std::string& s : f.stuck) t += fmt::format("found: {}\n", s);
  for (const Counterexample& c : f.examples()) t += "\n" + show_example(f.system, c);
  return t;
}

int run_verify(Call& call) {
  auto in = read_system_input(call, call.arguments);
  if (!in) return exit_code::kError;
  std::vector<Property> properties;
  read_properties(call, *in, properties);
  if (!call.session.diagnostics.ok()) return exit_code::kError;
  Findings found{in->system};
  VerifyOptions options;
  options.budget = &call.session.budget;
  std::string text = call.options.get("failures");
  std::from_chars(text.data(), text.data() + text.size(), options.failures);
  text = call.options.get("max-states");
  std::from_chars(text.data(), text.data() + text.size(), options.most_states);
  found.failures = options.failures;
  found.report = verify(in->system, properties, options);
  found.stuck = Graph(in->system).stuck();
  bool full = call.options.has("full");
  if (full) look_at_all(call, found, properties, options);
  std::string output = call.options.get("out", "text");
  if (output != "text")
    return write_answer(call, verify_tree(call, found, full), output) ? found.code() : exit_code::kError;
  call.out.put(verify_text(found, full));
  return found.code();
}

}  // namespace

extern const Verb verify_verb = {
    .name = "verify",
    .group = "Running",
    .summary = "prove that a program cannot go wrong, or show how it can",
    .arguments = "SYSTEM... [PROGRAM]",
    .details =
        "Looks at every interleaving and every outcome of a switch: no deadlock, and each property given in "
        "`properties` or with --property. What does not hold comes with the shortest way to get there.\n"
        "Properties: always EXPR, never EXPR, finally EXPR, reachable EXPR, EVENT before EVENT, between EVENT "
        "and EVENT never EVENT. EXPR is made of NAME.PLACE, NAME.PORT, NAME.TRANSITION, idle(NAME), not, and, "
        "or, ->, count(...) <= N; NAME may be `*`. EVENT is enter or leave NAME.PLACE, start or end "
        "NAME.TRANSITION, finish NAME.BEHAVIOUR.",
    .examples =
        "$ tutti verify system.yaml\n$ tutti verify --property 'never count(*.master) >= 2' system.yaml\n$ tutti "
        "verify --failures 1 system.yaml",
    .options = kVerifyOptions,
    .run = run_verify,
    .least = 1,
    .reads = true,
};

}  // namespace tutti
