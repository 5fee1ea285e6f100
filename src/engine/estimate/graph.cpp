#include "engine/estimate/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

namespace tutti::engine {

using model::ComponentType;
using model::Instruction;
using model::Op;
using model::System;

// Walks the program once, as Algorithm 1 does, keeping for each instance its tokens and the vertex after which its last
// behaviour is done, and for each port its two vertices.
class GraphBuilder {
 public:
  explicit GraphBuilder(Graph& g) : g_(g), s_(g.system_) {
    add({Event::Kind::kSource});
    add({Event::Kind::kSink});
    items_.resize(s_.instances.size());
    u32 ports = 0;
    for (u32 i = 0; i < items_.size(); ++i) {
      items_[i].ports = ports;
      ports += static_cast<u32>(s_.type_of(i).ports.size());
      items_[i].tokens = s_.instances[i].marking;
      items_[i].present = s_.instances[i].present;
    }
    ports_.resize(ports);
    for (u32 i = 0; i < items_.size(); ++i)
      for (u32 q = 0; q < s_.type_of(i).ports.size(); ++q) ports_[items_[i].ports + q].active = holds(i, q);
  }

  void build() {
    for (const model::Link& l : s_.links) link(l.user, l.use, l.provider, l.provide);
    for (u32 at = 0; at < s_.program.size(); ++at) instruction(at, s_.program[at]);
    for (Item& it : items_)
      if (it.end != kNone) arc(it.end, Graph::kSink);
    arc(sync_, Graph::kSink);
    check_ports();
    finish();
  }

 private:
  struct Item {
    std::vector<u32> tokens;
    u32 ports = 0;
    u32 end = kNone;  // vertex after which all its behaviours are done
    bool present = false;
    bool awaited = true;  // the program has waited for all that was pushed
  };
  struct PortItem {
    u32 activate = kNone, deactivate = kNone;
    u32 activations = 0, deactivations = 0;
    bool active = false;
    bool linked = false, was_linked = false, needed = false;
    u32 user_links = 0;
  };

  u32 add(Event e) {
    g_.events_.push_back(e);
    return static_cast<u32>(g_.events_.size() - 1);
  }
  void arc(u32 from, u32 to, u32 fire = kNone) { edges_.push_back({from, {to, fire}}); }
  void assume(std::string text) {
    if (said_.insert(text).second) g_.assumptions_.push_back(std::move(text));
  }
  void never(std::string text) {
    if (said_.insert(text).second) g_.stuck_.push_back(std::move(text));
  }

  PortItem& port(u32 i, u32 q) { return ports_[items_[i].ports + q]; }
  u32 activate(u32 i, u32 q) {
    PortItem& p = port(i, q);
    if (p.activate == kNone) p.activate = add({Event::Kind::kActivate, i, q});
    return p.activate;
  }
  u32 deactivate(u32 i, u32 q) {
    PortItem& p = port(i, q);
    if (p.deactivate == kNone) p.deactivate = add({Event::Kind::kDeactivate, i, q});
    return p.deactivate;
  }
  bool holds(u32 i, u32 q) const {
    const ComponentType& t = s_.type_of(i);
    return std::any_of(items_[i].tokens.begin(), items_[i].tokens.end(), [&](u32 p) { return t.group.test(q, p); });
  }

  void link(u32 user, u32 use, u32 provider, u32 provide) {
    PortItem& u = port(user, use);
    u.linked = u.was_linked = true;
    arc(activate(provider, provide), activate(user, use));
    arc(deactivate(user, use), deactivate(provider, provide));
  }

  void instruction(u32 at, const Instruction& in) {
    switch (in.op) {
      case Op::kAdd: items_[in.instance].present = true; break;
      case Op::kDel:
        items_[in.instance].present = false;
        if (items_[in.instance].end != kNone) {  // the engine waits until it does nothing
          u32 w = add({Event::Kind::kWait, kNone, at});
          arc(sync_, w);
          arc(items_[in.instance].end, w);
          sync_ = w;
        }
        break;
      case Op::kCon: {
        PortItem& u = port(in.instance, in.port);
        if (u.linked)
          never(fmt::format("{} can never be done: {} is already connected", s_.instruction_text(in),
                            s_.port_text(in.instance, in.port)));
        link(in.instance, in.port, in.provider, in.provide);
        arc(sync_, activate(in.instance, in.port));
        break;
      }
      case Op::kDcon: {
        u32 d = add({Event::Kind::kDisconnect, kNone, at});
        arc(sync_, d);
        PortItem& u = port(in.instance, in.port);
        if (u.active)
          never(fmt::format("{} can never be done: {} stays in use", s_.instruction_text(in),
                            s_.port_text(in.instance, in.port)));
        if (u.activations && !items_[in.instance].awaited)
          assume(fmt::format("{} may be done before {} is first used", s_.instruction_text(in),
                             s_.port_text(in.instance, in.port)));
        if (u.deactivate != kNone) arc(u.deactivate, d);
        u.linked = false;
        // A later connection is another link: its activation is counted apart.
        if (u.activate != kNone && u.activations) u.activate = kNone, u.activations = 0;
        if (u.deactivate != kNone) u.deactivate = kNone, u.deactivations = 0;
        sync_ = d;
        break;
      }
      case Op::kPush: behaviour(at, in.instance, in.behaviour); break;
      case Op::kWait: {
        u32 w = add({Event::Kind::kWait, kNone, at});
        arc(sync_, w);
        u32 end = in.upto ? ends_[{in.instance, in.upto}] : kNone;
        if (end && end != kNone) arc(end, w);
        items_[in.instance].awaited = items_[in.instance].awaited || in.upto == pushes_[in.instance];
        sync_ = w;
        break;
      }
      case Op::kWaitAll: {
        u32 w = add({Event::Kind::kWait, kNone, at});
        arc(sync_, w);
        for (Item& it : items_)
          if (it.present && it.end != kNone) arc(it.end, w);
        for (Item& it : items_) it.awaited = true;
        sync_ = w;
        break;
      }
    }
  }

  // Algorithm 2.
  void behaviour(u32 at, u32 i, u32 b) {
    const ComponentType& t = s_.type_of(i);
    Item& it = items_[i];
    it.awaited = false;
    u32 begin = add({Event::Kind::kBegin, i, b, at});
    if (it.end != kNone) arc(it.end, begin);
    arc(sync_, begin);
    // Places reached, in an order in which a place comes after those that lead to it (a behaviour has no cycle).
    std::unordered_map<u32, u32> enter, leave;
    std::vector<u32> reached, todo;
    std::unordered_map<u32, u32> incoming;
    std::set<u32> seen;
    auto reach = [&](u32 p) {
      if (seen.insert(p).second) todo.push_back(p);
    };
    for (u32 e : it.tokens) reach(t.is_place(e) ? e : t.stations[outcome(t, t.half_way(e)).station].place);
    while (!todo.empty()) {
      u32 p = todo.back();
      todo.pop_back();
      reached.push_back(p);
      for (u32 k : t.out(p, b)) reach(destination(i, k));
    }
    std::sort(reached.begin(), reached.end());
    auto enter_of = [&](u32 p) {
      auto [e, fresh] = enter.emplace(p, 0);
      if (fresh) e->second = add({Event::Kind::kEnter, i, p, at});
      return e->second;
    };
    auto leave_of = [&](u32 p) {
      auto [e, fresh] = leave.emplace(p, 0);
      if (fresh) {
        e->second = add({Event::Kind::kLeave, i, p, at});
        arc(enter_of(p), e->second);
      }
      return e->second;
    };
    std::vector<u32> final;
    std::map<u32, std::vector<u32>> fed;             // station -> transitions fired into it
    std::unordered_map<u32, std::vector<u32>> into;  // place -> transitions fired into it
    auto ends = [&](u32 after, u32 k, const model::Outcome& o, u32 fire = kNone) {
      u32 place = t.stations[o.station].place;
      arc(after, enter_of(place), fire);
      into[place].push_back(k);
      fed[o.station].push_back(k);
    };
    auto run = [&](u32 after, u32 k) {
      u32 fire = add({Event::Kind::kFire, i, k, at});
      arc(after, fire);
      ends(fire, k, outcome(t, {k, nullptr}), fire);
      if (t.transitions[k].is_switch())
        assume(fmt::format("{} is a switch: its first outcome is taken", s_.transition_text(i, k)));
    };
    for (u32 e : it.tokens) {
      if (t.is_place(e))
        arc(begin, enter_of(e));
      else if (model::HalfWay h = t.half_way(e); h.ended)
        ends(begin, h.transition, *h.ended);
      else
        run(begin, h.transition);
    }
    for (u32 p : reached) {
      auto out = t.out(p, b);
      if (out.empty()) {
        final.push_back(p);
        continue;
      }
      for (u32 k : out) run(leave_of(p), k);
    }
    for (const auto& [station, by] : fed)
      if (t.stations[station].needs != by.size())
        never(fmt::format("{} cannot enter {}: not all transitions that it waits for are fired by {}",
                          s_.instances[i].name.text(), t.places[t.stations[station].place].name.text(),
                          t.behaviours[b].name.text()));
    u32 end = add({Event::Kind::kEnd, i, b, at});
    for (u32 p : final) arc(enter_of(p), end);
    if (final.empty()) arc(begin, end);
    for (u32 q = 0; q < t.ports.size(); ++q) bind_port(i, q, b, reached, into, enter, leave, final);
    std::sort(final.begin(), final.end());
    it.tokens = std::move(final);
    it.end = end;
    ends_[{i, ++pushes_[i]}] = end;
    for (u32 q = 0; q < t.ports.size(); ++q) port(i, q).active = holds(i, q);
  }

  u32 destination(u32 i, u32 k) const {
    const ComponentType& t = s_.type_of(i);
    return t.stations[outcome(t, {k, nullptr}).station].place;
  }
  // How it has ended, or will: a switch takes its first outcome.
  static const model::Outcome& outcome(const ComponentType& t, const model::HalfWay& h) {
    return h.ended ? *h.ended : t.outcomes[t.transitions[h.transition].first_outcome];
  }

  void bind_port(u32 i, u32 q, u32 b, const std::vector<u32>& reached, std::unordered_map<u32, std::vector<u32>>& into,
                 std::unordered_map<u32, u32>& enter, std::unordered_map<u32, u32>& leave,
                 const std::vector<u32>& final) {
    const ComponentType& t = s_.type_of(i);
    PortItem& p = port(i, q);
    bool provide = t.ports[q].provide, before = p.active;
    bool touched = std::any_of(reached.begin(), reached.end(), [&](u32 x) { return t.group.test(q, x); });
    if (!touched) return;
    bool after = std::any_of(final.begin(), final.end(), [&](u32 x) { return t.group.test(q, x); });
    // Entrances: places of the group entered from outside it. Exits: places left for outside.
    std::vector<u32> in, out;
    for (u32 x : reached) {
      if (!t.group.test(q, x)) continue;
      bool from_outside = false, leaves = !t.out(x, b).empty();
      for (u32 k : into[x])
        if (!t.group.test(q, t.transition_element(k))) from_outside = true;
      for (u32 k : t.out(x, b))
        if (t.group.test(q, t.transition_element(k))) leaves = false;
      if (from_outside &&
          !(before && std::find(items_[i].tokens.begin(), items_[i].tokens.end(), x) != items_[i].tokens.end()))
        in.push_back(x);
      if (leaves) out.push_back(x);
    }
    bool activates = !before && !in.empty();
    bool deactivates = (before || activates) && !after && !out.empty();
    if (before && !in.empty() && !out.empty()) {  // left and entered again in one behaviour
      activates = true;
      deactivates = true;
      assume(fmt::format("{} may be deactivated and activated again within {}", s_.port_text(i, q),
                         t.behaviours[b].name.text()));
    }
    if (!provide) {
      if (activates) {
        ++p.activations;
        p.needed = true;
        if (!p.was_linked) wanted_.push_back({i, q});
        for (u32 x : in) arc(activate(i, q), enter[x]);
      }
      if (deactivates) {
        ++p.deactivations;
        for (u32 x : out) arc(leave[x], deactivate(i, q));
      }
    } else {
      if (activates) {
        ++p.activations;
        if (in.size() > 1)
          assume(fmt::format("{} is provided from the first of several places entered", s_.port_text(i, q)));
        for (u32 x : in) arc(enter[x], activate(i, q));
      }
      if (deactivates) {
        ++p.deactivations;
        if (out.size() > 1)
          assume(
              fmt::format("{} is left by several tokens: only the last one waits for its users", s_.port_text(i, q)));
        for (u32 x : out) arc(deactivate(i, q), leave[x]);
      }
    }
  }

  void check_ports() {
    for (u32 i = 0; i < items_.size(); ++i)
      for (u32 q = 0; q < s_.type_of(i).ports.size(); ++q) {
        const PortItem& p = port(i, q);
        if (p.activations > 1) assume(fmt::format("{} is activated {} times", s_.port_text(i, q), p.activations));
        if (p.deactivations > 1) assume(fmt::format("{} is deactivated {} times", s_.port_text(i, q), p.deactivations));
      }
    for (const auto& [i, q] : wanted_)
      if (!port(i, q).was_linked) never(fmt::format("use port {} is needed but never connected", s_.port_text(i, q)));
    for (const model::Link& l : all_links()) {
      const PortItem &u = port(l.user, l.use), &p = port(l.provider, l.provide);
      bool start = std::any_of(s_.instances[l.provider].marking.begin(), s_.instances[l.provider].marking.end(),
                               [&](u32 x) { return s_.type_of(l.provider).group.test(l.provide, x); });
      if (u.needed && !start && p.activations == 0)
        never(fmt::format("{} needs {}, which is never provided", s_.port_text(l.user, l.use),
                          s_.port_text(l.provider, l.provide)));
    }
  }

  std::vector<model::Link> all_links() const {
    std::vector<model::Link> all = s_.links;
    for (const Instruction& in : s_.program)
      if (in.op == Op::kCon) all.push_back({in.instance, in.port, in.provider, in.provide});
    return all;
  }

  void finish() {
    std::size_t n = g_.events_.size();
    g_.first_.assign(n + 1, 0);
    for (const auto& [from, a] : edges_) ++g_.first_[from + 1];
    for (std::size_t v = 0; v < n; ++v) g_.first_[v + 1] += g_.first_[v];
    g_.arcs_.resize(edges_.size());
    std::vector<u32> next(g_.first_.begin(), g_.first_.end() - 1), incoming(n);
    for (const auto& [from, a] : edges_) {
      g_.arcs_[next[from]++] = a;
      ++incoming[a.to];
    }
    std::vector<u32>& order = g_.order_;
    for (u32 v = 0; v < n; ++v)
      if (incoming[v] == 0) order.push_back(v);
    for (std::size_t k = 0; k < order.size(); ++k)
      for (const Arc& a : g_.out(order[k]))
        if (--incoming[a.to] == 0) order.push_back(a.to);
    g_.after_fire_.assign(n, false);
    for (u32 v : order)
      for (const Arc& a : g_.out(v))
        if (a.fire != kNone || g_.after_fire_[v]) g_.after_fire_[a.to] = true;
  }

  Graph& g_;
  const System& s_;
  std::vector<Item> items_;
  std::vector<PortItem> ports_;
  std::vector<std::pair<u32, Arc>> edges_;
  std::vector<std::pair<u32, u32>> wanted_;
  std::map<std::pair<u32, u32>, u32> ends_;  // (instance, n-th push) -> end vertex
  std::map<u32, u32> pushes_;
  std::set<std::string> said_;
  u32 sync_ = Graph::kSource;
};

Graph::Graph(const System& system) : system_(system) { GraphBuilder(*this).build(); }

std::string Graph::event_text(u32 v) const {
  const Event& e = events_[v];
  switch (e.kind) {
    case Event::Kind::kSource: return "start";
    case Event::Kind::kSink: return "end";
    case Event::Kind::kWait:
    case Event::Kind::kDisconnect: return system_.instruction_text(system_.program[e.index]);
    default: break;
  }
  const ComponentType& t = system_.type_of(e.instance);
  std::string_view who = system_.instances[e.instance].name.text();
  switch (e.kind) {
    case Event::Kind::kActivate:
      return fmt::format("{}.{} {}", who, t.ports[e.index].name.text(),
                         t.ports[e.index].provide ? "provided" : "in use");
    case Event::Kind::kDeactivate:
      return fmt::format("{}.{} {}", who, t.ports[e.index].name.text(),
                         t.ports[e.index].provide ? "withdrawn" : "released");
    case Event::Kind::kBegin: return fmt::format("{} begins {}", who, t.behaviours[e.index].name.text());
    case Event::Kind::kEnd: return fmt::format("{} has finished {}", who, t.behaviours[e.index].name.text());
    case Event::Kind::kEnter: return fmt::format("{} enters {}", who, t.places[e.index].name.text());
    case Event::Kind::kLeave: return fmt::format("{} leaves {}", who, t.places[e.index].name.text());
    case Event::Kind::kFire: return fmt::format("{}.{}", who, t.transitions[e.index].name.text());
    default: return "?";
  }
}

std::vector<u32> Graph::cycle() const {
  if (acyclic()) return {};
  std::vector<bool> done(events_.size());
  for (u32 v : order_) done[v] = true;
  // Each vertex that is left has a predecessor that is left: going back must close a loop.
  std::vector<u32> before(events_.size(), kNone);
  for (u32 v = 0; v < events_.size(); ++v)
    if (!done[v])
      for (const Arc& a : out(v))
        if (!done[a.to]) before[a.to] = v;
  u32 v = 0;
  while (done[v]) ++v;
  std::vector<bool> seen(events_.size());
  while (!seen[v]) seen[v] = true, v = before[v];
  std::vector<u32> loop{v};
  for (u32 w = before[v]; w != v; w = before[w]) loop.push_back(w);
  std::reverse(loop.begin(), loop.end());
  return loop;
}

std::vector<double> Graph::expected() const {
  std::vector<double> d(events_.size());
  for (u32 v = 0; v < events_.size(); ++v)
    if (events_[v].kind == Event::Kind::kFire)
      d[v] = system_.duration(events_[v].instance, system_.type_of(events_[v].instance).transitions[events_[v].index])
                 .mean();
  return d;
}

void Graph::earliest(const std::vector<double>& durations, std::vector<double>& times) const {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  times.resize(events_.size());
  for (u32 v = 0; v < events_.size(); ++v) times[v] = after_fire_[v] ? kNever : 0;
  for (u32 v : order_)
    for (const Arc& a : out(v))
      // What comes after some action is no later for what is there from the start. That matters only for durations
      // below zero, which a law may give: they would be cut off at some vertices and not at others.
      if (a.fire != kNone || after_fire_[v] || !after_fire_[a.to])
        times[a.to] = std::max(times[a.to], times[v] + (a.fire == kNone ? 0 : durations[a.fire]));
}

void Graph::latest(const std::vector<double>& durations, double total, std::vector<double>& times) const {
  times.assign(events_.size(), total);
  for (auto it = order_.rbegin(); it != order_.rend(); ++it)
    for (const Arc& a : out(*it))
      times[*it] = std::min(times[*it], times[a.to] - (a.fire == kNone ? 0 : durations[a.fire]));
}

std::vector<u32> Graph::critical_path(const std::vector<double>& durations, const std::vector<double>& times) const {
  // The tight arc into every vertex; among several the one found first in topological order.
  std::vector<u32> before(events_.size(), kNone);
  for (u32 v : order_)
    for (const Arc& a : out(v)) {
      double t = times[v] + (a.fire == kNone ? 0 : durations[a.fire]);
      if (t == times[a.to] && (before[a.to] == kNone || (before[a.to] == kSource && t > 0))) before[a.to] = v;
    }
  std::vector<u32> path;
  for (u32 v = kSink; v != kNone; v = before[v]) path.push_back(v);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace tutti::engine
