#include "engine/estimate/estimate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <unordered_map>

namespace tutti::engine {

using model::ComponentType;
using model::Duration;
using model::System;

namespace {

double draw(const Duration& d, std::mt19937_64& random) {
  switch (d.law) {
    case Duration::Law::kFixed: return d.a;
    case Duration::Law::kUniform: return d.a + (d.b - d.a) * std::generate_canonical<double, 53>(random);
    case Duration::Law::kNormal: return std::normal_distribution<double>(d.a, d.b)(random);
    case Duration::Law::kExponential: return std::exponential_distribution<double>(1 / d.a)(random);
  }
  return 0;
}

// Actions are told apart by what they do: their name and what it says, whatever the type. A type for each dependency,
// as in Listing 11, or one type for all is a matter of writing, and no more tasks for Ansible.
class Actions {
 public:
  u32 number(const ComponentType& t, const model::Transition& k) {
    const Value& what = t.action_of(k).what;
    std::vector<std::pair<Value, u32>>& alike = known_[k.name];
    for (const auto& [value, number] : alike)
      if (equal(value, what)) return number;
    alike.push_back({what, next_});
    return next_++;
  }

 private:
  std::unordered_map<Symbol, std::vector<std::pair<Value, u32>>> known_;
  u32 next_ = 0;
};

// Which Ansible task each firing belongs to: (action, n-th time of this instance), or one of its own.
class Tasks {
 public:
  explicit Tasks(const Graph& g) {
    const System& s = g.system();
    Actions actions;
    std::map<std::pair<u32, u32>, u32> numbers;  // (type, transition) -> action
    std::map<std::tuple<u32, u32, u32>, u32> known;
    std::unordered_map<u64, u32> times;
    for (u32 v = 0; v < g.events().size(); ++v) {
      const Event& e = g.events()[v];
      if (e.kind != Event::Kind::kFire) continue;
      const ComponentType& t = s.type_of(e.instance);
      const model::Transition& k = t.transitions[e.index];
      u32 nth = times[u64{e.instance} << 32 | k.declared]++;
      const model::Action& a = t.action_of(k);
      u32 own = a.alike ? kNone : e.instance;
      auto [action, first] = numbers.try_emplace({s.instances[e.instance].type, e.index}, 0);
      if (first) action->second = actions.number(t, k);
      auto [it, fresh] = known.emplace(std::tuple{action->second, nth, own}, static_cast<u32>(known.size()));
      fires_.push_back({v, it->second});
    }
    longest_.resize(known.size());
  }

  double total(const std::vector<double>& durations) {
    std::fill(longest_.begin(), longest_.end(), -1e300);
    for (const auto& [v, task] : fires_) longest_[task] = std::max(longest_[task], durations[v]);
    double sum = 0;
    for (double d : longest_) sum += d;
    return sum;
  }

 private:
  std::vector<std::pair<u32, u32>> fires_;
  std::vector<double> longest_;
};

double simulate_sequential(const System& system, const SimulatedExecutor::Oracle& oracle) {
  SimulatedExecutor executor(oracle);
  RunOptions options;
  options.parallel_per_instance = 1;
  return Runner(system, executor, options).run().total;
}

Sample summarise(std::vector<double>& x) {
  Sample s;
  if (x.empty()) return s;
  std::sort(x.begin(), x.end());
  double sum = 0, squares = 0;
  for (double v : x) sum += v;
  s.mean = sum / static_cast<double>(x.size());
  for (double v : x) squares += (v - s.mean) * (v - s.mean);
  s.deviation = x.size() > 1 ? std::sqrt(squares / static_cast<double>(x.size() - 1)) : 0;
  auto at = [&](double q) {
    return x[std::min(x.size() - 1, static_cast<std::size_t>(q * static_cast<double>(x.size())))];
  };
  s.least = x.front();
  s.most = x.back();
  s.p50 = at(0.5);
  s.p90 = at(0.9);
  s.p99 = at(0.99);
  s.often.resize(Sample::kBins);
  double width = (s.most - s.least) / static_cast<double>(Sample::kBins);
  for (double v : x) {
    auto bin = width > 0 ? static_cast<std::size_t>((v - s.least) / width) : 0;
    ++s.often[std::min(bin, Sample::kBins - 1)];
  }
  return s;
}

}  // namespace

Estimate estimate(const Graph& graph, const RunOptions& options, SimulatedExecutor::Limits limits) {
  Estimate e;
  e.assumptions = graph.assumptions();
  SimulatedExecutor executor({}, std::move(limits));
  Runner runner(graph.system(), executor, options);
  RunReport report = runner.run();
  e.finishes = report.finished;
  e.total = report.total;
  e.program_end = report.program_end;
  std::vector<std::pair<double, int>> edges;
  for (const ActionSpan& a : report.actions) {
    e.work += a.end - a.start;
    if (a.end > a.start) edges.push_back({a.start, 1}), edges.push_back({a.end, -1});
  }
  std::sort(edges.begin(), edges.end());
  int now = 0, most = 0;
  for (const auto& [t, d] : edges) most = std::max(most, now += d);
  e.most_at_once = static_cast<u32>(most);
  if (!report.finished) e.stuck = report.stuck;
  for (const std::string& s : graph.stuck())
    if (std::find(e.stuck.begin(), e.stuck.end(), s) == e.stuck.end()) e.stuck.push_back(s);
  if (!graph.acyclic()) {
    for (u32 v : graph.cycle()) e.cycle.push_back(graph.event_text(v));
    return e;
  }
  std::vector<double> durations = graph.expected(), early, late;
  graph.earliest(durations, early);
  e.graph_total = early[Graph::kSink];
  e.critical = graph.critical_path(durations, early);
  graph.latest(durations, e.graph_total, late);
  for (u32 v = 0; v < graph.events().size(); ++v) {
    const Event& ev = graph.events()[v];
    if (ev.kind == Event::Kind::kFire)
      e.slack.push_back({ev.instance, ev.index, ev.push, early[v], durations[v], late[v] - early[v]});
  }
  std::stable_sort(e.slack.begin(), e.slack.end(), [](const Slack& a, const Slack& b) { return a.start < b.start; });
  double scale = std::max(1.0, std::fabs(e.total));
  e.exact = e.finishes && std::fabs(e.graph_total - e.total) <= 1e-9 * scale;
  return e;
}

double aeolus_total(const System& system) { return simulate_sequential(system, {}); }

double ansible_total(const System& system) {
  Graph graph(system);
  return Tasks(graph).total(graph.expected());
}

MonteCarlo monte_carlo(const Graph& graph, u32 runs, u64 seed, bool aeolus) {
  MonteCarlo out;
  out.runs = runs;
  if (!graph.acyclic()) return out;
  const System& s = graph.system();
  std::mt19937_64 random(seed);
  std::vector<u32> fires;
  std::vector<const Duration*> laws;
  for (u32 v = 0; v < graph.events().size(); ++v) {
    const Event& e = graph.events()[v];
    if (e.kind != Event::Kind::kFire) continue;
    fires.push_back(v);
    laws.push_back(&s.duration(e.instance, s.type_of(e.instance).transitions[e.index]));
  }
  Tasks tasks(graph);
  std::vector<double> durations(graph.events().size()), early, ours, theirs, third;
  std::vector<u32> hits(graph.events().size());
  for (u32 r = 0; r < runs; ++r) {
    for (std::size_t i = 0; i < fires.size(); ++i) durations[fires[i]] = draw(*laws[i], random);
    graph.earliest(durations, early);
    ours.push_back(early[Graph::kSink]);
    theirs.push_back(tasks.total(durations));
    if (runs <= 10000 || r % 16 == 0)
      for (u32 v : graph.critical_path(durations, early)) ++hits[v];
    if (aeolus) {
      std::unordered_map<u64, double> of;
      for (u32 v : fires) of[u64{graph.events()[v].instance} << 32 | graph.events()[v].index] = durations[v];
      third.push_back(simulate_sequential(s, [&](const ActionRequest& q) {
        return SimulatedExecutor::Fate{of[u64{q.instance} << 32 | q.transition], How::kOk, {}};
      }));
    }
  }
  out.concerto = summarise(ours);
  out.ansible = summarise(theirs);
  out.aeolus = summarise(third);
  double looked = runs <= 10000 ? runs : std::ceil(runs / 16.0);
  for (u32 v : fires)
    if (hits[v]) out.often.push_back({v, hits[v] / looked});
  std::stable_sort(out.often.begin(), out.often.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

}  // namespace tutti::engine
