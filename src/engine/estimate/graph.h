#pragma once

#include <string>
#include <vector>

#include "model/system.h"

// The dependency graph of a program (Algorithms 1 and 2 of the Concerto paper, with the occurrences of a behaviour told
// apart): events are vertices, "not before" are arcs, and only the arcs of transitions take time. The longest path is
// the duration of the program, a cycle is a deadlock.
namespace tutti::engine {

using model::kNone;

struct Event {
  enum class Kind : u8 {
    kSource,
    kSink,
    kActivate,    // port
    kDeactivate,  // port
    kWait,        // instruction
    kDisconnect,  // instruction
    kBegin,       // a behaviour becomes current
    kEnd,         // and is finished
    kEnter,       // place
    kLeave,       // place
    kFire,        // transition
  };
  Kind kind = Kind::kSource;
  u32 instance = kNone;
  u32 index = 0;  // port, place, transition or instruction
  u32 push = 0;   // which pushB of the program (its position), for what belongs to a behaviour
};

struct Arc {
  u32 to;
  u32 fire;  // the kFire vertex whose transition takes this arc's time; kNone: no time
};

class Graph {
 public:
  explicit Graph(const model::System& system);

  const model::System& system() const { return system_; }
  const std::vector<Event>& events() const { return events_; }
  std::string event_text(u32 v) const;
  // Where the model's assumptions do not hold (a port activated twice, a switch, ...): the simulation is right there
  // and the graph only a bound.
  const std::vector<std::string>& assumptions() const { return assumptions_; }
  // What would never end although there is no cycle: a use port that is never connected, and the like.
  const std::vector<std::string>& stuck() const { return stuck_; }
  // The vertices of a cycle, in order; empty when there is none.
  std::vector<u32> cycle() const;
  std::span<const Arc> out(u32 v) const { return {arcs_.data() + first_[v], first_[v + 1] - first_[v]}; }
  std::size_t arcs() const { return arcs_.size(); }

  static constexpr u32 kSource = 0, kSink = 1;

  // Earliest time of every event for given durations, one per vertex (only those of kFire vertices are read). The graph
  // must have no cycle.
  void earliest(const std::vector<double>& durations, std::vector<double>& times) const;
  // Latest times that do not delay the sink.
  void latest(const std::vector<double>& durations, double total, std::vector<double>& times) const;
  std::vector<double> expected() const;  // durations for earliest()
  // Back from the sink along arcs that are tight.
  std::vector<u32> critical_path(const std::vector<double>& durations, const std::vector<double>& earliest) const;
  bool acyclic() const { return order_.size() == events_.size(); }

 private:
  friend class GraphBuilder;
  const model::System& system_;
  std::vector<Event> events_;
  std::vector<u32> first_;
  std::vector<Arc> arcs_;
  std::vector<bool> after_fire_;  // whether some action comes before
  std::vector<u32> order_;        // topological; shorter than events_ when there is a cycle
  std::vector<std::string> assumptions_, stuck_;
};

}  // namespace tutti::engine
