#include "engine/estimate/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "cli/system_input.h"
#include "cli/wording.h"

namespace tutti {
namespace {

using namespace engine;

constexpr OptionSpec kEstimateOptions[] = {
    kTellOption,
    TUTTI_SYSTEM_OPTIONS,
    {"events", "", "the critical path event by event"},
    {"models", "", "also what Aeolus and Ansible would take"},
    {"monte-carlo", "RUNS", "draw the durations from their laws so many times"},
    {"histogram", "", "show how the drawn totals are distributed"},
    {"seed", "NUMBER", "of the random draws (default 1)"},
    {"parallel", "N", "at most so many actions at once"},
};

template <class T>
T number_of(const Options& o, std::string_view name, T otherwise) {
  std::string s = o.get(name);
  std::from_chars(s.data(), s.data() + s.size(), otherwise);
  return otherwise;
}

Value sample_tree(const TreeMaker& make, const Sample& s) {
  std::vector<Value> often;
  for (u32 n : s.often) often.push_back(make.integer(n));
  return make.map({{"mean", make.number(s.mean)},
                   {"deviation", make.number(s.deviation)},
                   {"least", make.number(s.least)},
                   {"p50", make.number(s.p50)},
                   {"p90", make.number(s.p90)},
                   {"p99", make.number(s.p99)},
                   {"most", make.number(s.most)},
                   {"histogram", make.list(often)}});
}

// A line for each part, its width by how many fell into it (as the histograms of table 3 of the paper, turned).
std::string histogram(const Sample& s) {
  constexpr u32 kWidest = 50;
  u32 most = s.often.empty() ? 0 : *std::max_element(s.often.begin(), s.often.end());
  if (most == 0 || s.most <= s.least) return "";
  std::string t;
  double width = (s.most - s.least) / static_cast<double>(s.often.size());
  for (std::size_t k = 0; k < s.often.size(); ++k)
    t += fmt::format("  {:>10.1f}  {}\n", s.least + width * (static_cast<double>(k) + 0.5),
                     std::string((s.often[k] * kWidest + most - 1) / most, '#'));
  return t;
}

// Actions that will run and of which nobody has said how long they take; and how many will run at all.
std::pair<u32, u32> untimed_actions(const Graph& graph) {
  const model::System& s = graph.system();
  u32 untimed = 0, all = 0;
  for (const Event& e : graph.events()) {
    if (e.kind != Event::Kind::kFire) continue;
    const model::Transition& t = s.type_of(e.instance).transitions[e.index];
    ++all;
    untimed += !s.type_of(e.instance).action_of(t).what.is(Kind::kNull) && s.duration(e.instance, t).mean() <= 0;
  }
  return {untimed, all};
}

// What is known of a program before it runs.
struct Foretold {
  const model::System& system;
  Graph graph;
  Estimate estimate;
  u32 untimed = 0, actions = 0;  // actions of which nobody says how long they take; all of them
  bool unknown = false;          // of none is it said
  std::vector<u32> critical;     // only what takes time
  bool models = false;
  double aeolus = 0, ansible = 0;  // totals of other execution models
  u32 draws = 0;
  MonteCarlo drawn;
};

Value as_tree(const TreeMaker& make, const Foretold& f) {
  const Estimate& e = f.estimate;
  std::vector<std::string> path, events;
  for (u32 v : f.critical) path.push_back(f.graph.event_text(v));
  for (u32 v : e.critical) events.push_back(f.graph.event_text(v));
  std::vector<Value> slack;
  for (const Slack& s : e.slack)
    slack.push_back(make.map({{"transition", make.text(f.system.transition_text(s.instance, s.transition))},
                              {"start", make.number(s.start)},
                              {"duration", make.number(s.duration)},
                              {"slack", make.number(s.slack)}}));
  MapDraft d;
  auto set = [&](std::string_view k, const Value& v) { d.set(Symbol(k), v); };
  set("finishes", Value::boolean(e.finishes));
  set("total", f.unknown ? Value::null() : make.number(e.total));
  if (f.untimed) set("untimed", make.integer(f.untimed));
  set("program_end", make.number(e.program_end));
  set("exact", Value::boolean(e.exact));
  set("graph_total", make.number(e.graph_total));
  set("critical_path", make.list(path));
  set("critical_events", make.list(events));
  set("parallelism", make.number(e.parallelism()));
  set("most_at_once", make.integer(e.most_at_once));
  set("slack", make.list(slack));
  if (!e.assumptions.empty()) set("assumptions", make.list(e.assumptions));
  if (!e.stuck.empty()) set("stuck", make.list(e.stuck));
  if (!e.cycle.empty()) set("cycle", make.list(e.cycle));
  if (f.models)
    set("models", make.map({{"concerto", make.number(e.total)},
                            {"aeolus", make.number(f.aeolus)},
                            {"ansible", make.number(f.ansible)}}));
  if (f.draws)
    set("monte_carlo", make.map({{"runs", make.integer(f.draws)},
                                 {"concerto", sample_tree(make, f.drawn.concerto)},
                                 {"ansible", sample_tree(make, f.drawn.ansible)}}));
  return d.build(make.builder());
}

std::string total_text(const Foretold& f) {
  const Estimate& e = f.estimate;
  std::string t;
  if (!e.finishes) {
    t += "does not finish\n";
    for (const std::string& s : e.stuck) t += fmt::format("  {}\n", s);
  } else {
    t += fmt::format("total        {}\n",
                     f.unknown ? "not known: no action says how long it takes" : show_time(e.total));
    if (e.program_end != e.total) t += fmt::format("program ends {}\n", show_time(e.program_end));
    t += fmt::format("work         {} in {} transitions, {:.2f} at once on average, {} at most\n", show_time(e.work),
                     e.slack.size(), e.parallelism(), e.most_at_once);
  }
  if (e.cycle.empty()) return t;
  t += "deadlock: each of these waits for the one before it\n";
  for (const std::string& s : e.cycle) t += fmt::format("  {}\n", s);
  return t;
}

// `events`: with what takes no time, too.
std::string path_text(const Foretold& f, bool events) {
  const Estimate& e = f.estimate;
  if (f.critical.empty() || !e.finishes) return "";
  std::string t = "critical path\n";
  double now = 0;
  for (u32 v : events ? e.critical : f.critical) {
    const Event& ev = f.graph.events()[v];
    auto s = std::find_if(e.slack.begin(), e.slack.end(), [&](const Slack& x) {
      return ev.kind == Event::Kind::kFire && x.instance == ev.instance && x.transition == ev.index &&
             x.push == ev.push;
    });
    if (s == e.slack.end()) {
      t += fmt::format("  {:>10}  {}\n", show_time(now), f.graph.event_text(v));
      continue;
    }
    t += fmt::format("  {:>10}  {:<40} {}\n", show_time(s->start), f.graph.event_text(v), show_time(s->duration));
    now = s->start + s->duration;
  }
  bool head = false;
  for (const Slack& s : e.slack) {
    if (s.slack <= 0) continue;
    if (!head) t += "slack of the others\n";
    head = true;
    t += fmt::format("  {:>10}  {:<40} {}\n", show_time(s.start), f.system.transition_text(s.instance, s.transition),
                     show_time(s.slack));
  }
  return t;
}

std::string notes_text(const Foretold& f) {
  const Estimate& e = f.estimate;
  std::string t;
  if (f.untimed && !f.unknown)
    t += fmt::format("note: {} of {} say no duration and count as none\n", f.untimed, counted(f.actions, "action"));
  for (const std::string& s : e.assumptions) t += fmt::format("note: {}\n", s);
  if (e.finishes && !e.exact && e.cycle.empty())
    t += fmt::format("note: the dependency graph gives {}; the total above is simulated\n", show_time(e.graph_total));
  return t;
}

std::string models_text(const Foretold& f) {
  if (!f.models || !f.estimate.finishes) return "";
  std::string t = "other execution models\n";
  auto line = [&](std::string_view name, double total) {
    t += fmt::format("  {:<7}  {:>10}  {:+.1f}%\n", name, show_time(total),
                     f.estimate.total > 0 ? (total / f.estimate.total - 1) * 100 : 0.0);
  };
  line("aeolus", f.aeolus);
  line("ansible", f.ansible);
  return t;
}

std::string draws_text(const Foretold& f, bool histograms) {
  if (!f.draws || !f.graph.acyclic()) return "";
  std::string t = fmt::format("{} draws\n", f.draws);
  auto line = [&](std::string_view name, const Sample& s) {
    t += fmt::format("  {:<9} mean {:.3f}  deviation {:.3f}  median {:.3f}  90% {:.3f}  99% {:.3f}\n", name, s.mean,
                     s.deviation, s.p50, s.p90, s.p99);
  };
  line("concerto", f.drawn.concerto);
  if (histograms) t += histogram(f.drawn.concerto);
  line("ansible", f.drawn.ansible);
  if (histograms) t += histogram(f.drawn.ansible);
  auto& often = f.drawn.often;
  for (std::size_t k = 0; k < often.size() && k < 10; ++k)
    t += fmt::format("  critical in {:5.1f}%  {}\n", often[k].second * 100, f.graph.event_text(often[k].first));
  return t;
}

int run_estimate(Call& call) {
  auto in = read_system_input(call, call.arguments);
  if (!in) return exit_code::kError;
  Foretold f{in->system, Graph(in->system), {}, 0, 0, false, {}, false, 0, 0, 0, {}};
  RunOptions options;
  options.parallel = number_of<u32>(call.options, "parallel", 0);
  f.estimate = estimate(f.graph, options);
  std::tie(f.untimed, f.actions) = untimed_actions(f.graph);
  f.unknown = f.untimed > 0 && f.estimate.work <= 0;
  for (u32 v : f.estimate.critical)
    if (f.graph.events()[v].kind == Event::Kind::kFire) f.critical.push_back(v);
  f.models = call.options.has("models");
  if (f.models) f.aeolus = aeolus_total(f.system), f.ansible = ansible_total(f.system);
  f.draws = number_of<u32>(call.options, "monte-carlo", 0);
  if (f.draws) f.drawn = monte_carlo(f.graph, f.draws, number_of<u64>(call.options, "seed", 1), false);
  int code = f.estimate.finishes && f.estimate.cycle.empty() ? exit_code::kOk : exit_code::kFailed;
  if (std::string output = call.options.get("out", "text"); output != "text")
    return write_answer(call, as_tree(TreeMaker(call.session), f), output) ? code : exit_code::kError;
  call.out.put(total_text(f) + path_text(f, call.options.has("events")) + notes_text(f) + models_text(f) +
               draws_text(f, call.options.has("histogram")));
  return code;
}

}  // namespace

extern const Verb estimate_verb = {
    .name = "estimate",
    .group = "Running",
    .summary = "how long a program will take, and why",
    .arguments = "SYSTEM... [PROGRAM]",
    .details =
        "Runs the program against a simulated clock and builds its dependency graph: the total, the critical "
        "path, how much longer each transition may take before the whole does. A cycle in the graph is a "
        "deadlock and is named.",
    .examples =
        "$ tutti estimate system.yaml\n$ tutti estimate --models --set n=10 system.cue update.concerto\n$ tutti "
        "estimate --monte-carlo 10000 system.json",
    .options = kEstimateOptions,
    .run = run_estimate,
    .least = 1,
    .reads = true,
};

}  // namespace tutti
