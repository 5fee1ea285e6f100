#pragma once

#include <string>
#include <vector>

#include "engine/estimate/graph.h"
#include "engine/run/runner.h"
#include "engine/run/simulate.h"

namespace tutti::engine {

struct Slack {
  u32 instance = 0, transition = 0, push = 0;
  double start = 0, duration = 0;
  double slack = 0;  // how much longer it may take without the whole taking longer
};

struct Estimate {
  bool finishes = false;  // by the simulation
  bool exact = false;     // the graph's assumptions hold and it agrees with the simulation
  double total = 0;       // simulated
  double program_end = 0;
  double graph_total = 0;
  double work = 0;            // all durations added up
  u32 most_at_once = 0;       // actions
  std::vector<u32> critical;  // vertices of the graph; empty when it has a cycle
  std::vector<Slack> slack;   // per fired transition, in order of start
  std::vector<std::string> assumptions;
  std::vector<std::string> stuck;  // why it does not finish
  std::vector<std::string> cycle;  // events of a cycle of the graph, by name
  double parallelism() const { return total > 0 ? work / total : 0; }
};

// Under the limits that the run will have; the graph, its critical path and slack are without any.
Estimate estimate(const Graph& graph, const RunOptions& options = {}, SimulatedExecutor::Limits limits = {});

// The same program under other execution models (section 6.4 of the paper).
// Aeolus: components run side by side, but each does one action at a time.
double aeolus_total(const model::System& system);
// Ansible: one task after the other; a task is the same action on all instances that do it, side by side, and ends when
// the slowest has. Two actions are the same when the transition's name, what it does and the occurrence are, whatever
// the type, unless the transition says `alike: false`: then each instance has its own task.
double ansible_total(const model::System& system);

struct Sample {
  double mean = 0, deviation = 0, least = 0, most = 0;
  double p50 = 0, p90 = 0, p99 = 0;
  std::vector<u32> often = {};  // how many in each of kBins equal parts from the least to the most
  static constexpr std::size_t kBins = 20;
};
struct MonteCarlo {
  u32 runs = 0;
  Sample concerto, ansible, aeolus;           // aeolus only when asked for: it is simulated
  std::vector<std::pair<u32, double>> often;  // graph vertex of a transition, how often it was critical
};
// Durations drawn from their laws, not cut off at zero for any of the models (as in Table 3), evaluated on the graph.
// (Aeolus is simulated, and no clock goes back: there alone a negative duration is none.)
MonteCarlo monte_carlo(const Graph& graph, u32 runs, u64 seed, bool aeolus);

}  // namespace tutti::engine
