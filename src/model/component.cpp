#include "model/component.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/near.h"

namespace tutti::model {

double Retry::wait_before(u32 attempt) const {
  double d = delay;
  for (u32 i = 1; i < attempt && d < most; ++i) d *= factor;
  return std::min(d, most);
}

namespace {

template <class List, class Get>
u32 find_name(const List& list, Symbol n, Get get) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (get(list[i]) == n) return static_cast<u32>(i);
  return kNone;
}

// Compiles one type. The order is that of the checks: names, then the net, then what depends on reachability.
class Compiler {
 public:
  Compiler(const TypeSource& source, Diagnostics& diagnostics, ComponentType& type)
      : source_(source), diagnostics_(diagnostics), type_(type) {}

  bool run(std::vector<Symbol>& declared, std::vector<u32>& out_at, std::vector<u32>& out) {
    std::size_t before = diagnostics_.errors();
    type_.name = source_.name.name;
    type_.at = source_.name.at;
    read_places();
    read_behaviours();
    read_transitions(declared, diagnostics_.errors() == before);
    name_ports();
    if (diagnostics_.errors() != before) return false;  // all the names, and only then what they make
    number_elements();
    index_out(out_at, out);
    bind_ports();
    if (diagnostics_.errors() != before) return false;
    check_cycles();
    check_reachable();
    check_stations();
    return diagnostics_.errors() == before;
  }

 private:
  using Index = std::unordered_map<Symbol, u32>;

  std::string here() const { return fmt::format("component type `{}`", type_.name.text()); }

  bool add_name(Index& index, const Named& n, u32 number, std::string_view what) {
    if (index.emplace(n.name, number).second) return true;
    diagnostics_.error("MODEL-REPEATED", n.at,
                       fmt::format("{} `{}` is declared twice in {}", what, n.name.text(), here()));
    return false;
  }

  u32 look_up(const Index& index, const Named& n, std::string_view what, std::string_view where) {
    auto it = index.find(n.name);
    if (it != index.end()) return it->second;
    std::vector<Symbol> names;
    for (const auto& [name, number] : index) names.push_back(name);
    std::sort(names.begin(), names.end(), [](Symbol a, Symbol b) { return a.text() < b.text(); });
    diagnostics_
        .error("MODEL-UNKNOWN-NAME", n.at, fmt::format("no {} `{}` in {} ({})", what, n.name.text(), here(), where))
        .did_you_mean(nearest(n.name, names).text());
    return kNone;
  }

  void read_places() {
    for (const Named& p : source_.places) {
      add_name(places_, p, static_cast<u32>(type_.places.size()), "place");
      type_.places.push_back(p);
    }
    if (type_.places.empty())
      diagnostics_.error("MODEL-NO-PLACE", source_.name.at, fmt::format("{} has no place", here()));
    for (const Named& p : source_.initial) {
      u32 k = look_up(places_, p, "place", "the initial place");
      if (k != kNone) type_.initial.push_back(k);
    }
    if (source_.initial.empty())
      diagnostics_.error("MODEL-NO-INITIAL", source_.name.at, fmt::format("{} names no initial place", here()));
    for (const StationSource& s : source_.stations) {
      u32 k = look_up(places_, s.place, "place", fmt::format("station `{}`", s.name.name.text()));
      if (!add_name(stations_, s.name, static_cast<u32>(type_.stations.size()), "station") || k == kNone) continue;
      type_.stations.push_back({s.name.name, k, 0, 0});
    }
  }

  void read_behaviours() {
    Index names, transitions;
    for (std::size_t i = 0; i < source_.transitions.size(); ++i)
      add_name(transitions, source_.transitions[i].name, static_cast<u32>(i), "transition");
    in_.resize(source_.transitions.size());
    for (const BehaviourSource& b : source_.behaviours) {
      u32 number = static_cast<u32>(type_.behaviours.size());
      add_name(names, b.name, number, "behaviour");
      type_.behaviours.push_back({b.name.name, b.name.at, {}});
      for (const Named& t : b.transitions) {
        u32 k = look_up(transitions, t, "transition", fmt::format("behaviour `{}`", b.name.name.text()));
        if (k != kNone && (in_[k].empty() || in_[k].back() != number)) in_[k].push_back(number);
      }
    }
  }

  u32 default_station(u32 place, u32 behaviour) {
    u64 key = u64{place} << 32 | behaviour;
    auto [it, fresh] = defaults_.emplace(key, static_cast<u32>(type_.stations.size()));
    if (fresh) {
      std::string_view b = behaviour == kNone ? std::string_view("-") : type_.behaviours[behaviour].name.text();
      type_.stations.push_back({Symbol(fmt::format("{}@{}", type_.places[place].name.text(), b)), place, 0, 0});
    }
    return it->second;
  }

  void add_outcome(const Named& destination, u32 declared, u32 behaviour, bool on_failure) {
    u32 station;
    if (auto s = stations_.find(destination.name); s != stations_.end()) {
      station = s->second;
    } else {
      u32 place =
          look_up(places_, destination, "place or station",
                  fmt::format("a destination of transition `{}`", source_.transitions[declared].name.name.text()));
      if (place == kNone) return;
      station = default_station(place, behaviour);
    }
    // Endings belong to (transition as declared, station): the copies of a transition share those of a named station.
    auto [it, fresh] = endings_.emplace(u64{declared} << 32 | station, static_cast<u32>(endings_.size()));
    if (fresh) feeds_.push_back({station, behaviour});
    type_.outcomes.push_back({destination.name, station, it->second, on_failure});
  }

  void read_transitions(std::vector<Symbol>& declared, bool behaviours_known) {
    for (std::size_t d = 0; d < source_.transitions.size(); ++d) {
      const TransitionSource& t = source_.transitions[d];
      declared.push_back(t.name.name);
      type_.actions.push_back(t.action);
      u32 from = look_up(places_, t.source, "place", fmt::format("the source of transition `{}`", t.name.name.text()));
      if (t.destinations.empty())
        diagnostics_.error("MODEL-NO-DESTINATION", t.name.at,
                           fmt::format("transition `{}` of {} has no destination", t.name.name.text(), here()));
      if (in_[d].empty()) {
        if (behaviours_known)
          diagnostics_.warning(
              "MODEL-IDLE-TRANSITION", t.name.at,
              fmt::format("transition `{}` of {} is in no behaviour and never fires", t.name.name.text(), here()));
        in_[d].push_back(kNone);
      }
      for (u32 b : in_[d]) {
        u32 number = static_cast<u32>(type_.transitions.size());
        Transition c{t.name.name,         t.name.at,          from, b, static_cast<u32>(type_.outcomes.size()), 0,
                     static_cast<u32>(d), static_cast<u32>(d)};
        for (const Named& n : t.destinations) add_outcome(n, static_cast<u32>(d), b, false);
        if (t.on_failure) add_outcome(*t.on_failure, static_cast<u32>(d), b, true);
        c.outcomes = static_cast<u32>(type_.outcomes.size()) - c.first_outcome;
        type_.transitions.push_back(c);
        if (b != kNone) type_.behaviours[b].transitions.push_back(number);
      }
    }
  }

  void number_elements() {
    u32 first = static_cast<u32>(type_.places.size() + type_.transitions.size());
    type_.elements = first + static_cast<u32>(endings_.size());
    for (Outcome& o : type_.outcomes) o.ending += first;
    std::vector<u32> count(type_.stations.size() + 1);
    for (const Feed& f : feeds_) ++count[f.station + 1];
    for (std::size_t i = 1; i < count.size(); ++i) count[i] += count[i - 1];
    type_.needs.resize(feeds_.size());
    std::vector<u32> next(count.begin(), count.end() - 1);
    for (u32 i = 0; i < feeds_.size(); ++i) type_.needs[next[feeds_[i].station]++] = first + i;
    for (std::size_t s = 0; s < type_.stations.size(); ++s) {
      type_.stations[s].first_need = count[s];
      type_.stations[s].needs = count[s + 1] - count[s];
    }
  }

  void index_out(std::vector<u32>& at, std::vector<u32>& out) {
    std::size_t nb = type_.behaviours.size();
    at.assign(type_.places.size() * nb + 1, 0);
    for (const Transition& t : type_.transitions)
      if (t.behaviour != kNone) ++at[t.source * nb + t.behaviour + 1];
    for (std::size_t i = 1; i < at.size(); ++i) at[i] += at[i - 1];
    out.resize(at.back());
    std::vector<u32> next(at.begin(), at.end());
    for (u32 k = 0; k < type_.transitions.size(); ++k) {
      const Transition& t = type_.transitions[k];
      if (t.behaviour != kNone) out[next[t.source * nb + t.behaviour]++] = k;
    }
    out_at_ = &at;
    out_ = &out;
  }

  std::span<const u32> out(u32 place, u32 b) const {
    std::size_t k = place * type_.behaviours.size() + b;
    return {out_->data() + (*out_at_)[k], (*out_at_)[k + 1] - (*out_at_)[k]};
  }

  void name_ports() {
    Index names;
    auto add = [&](const PortSource& p, bool provide) {
      add_name(names, p.name, static_cast<u32>(type_.ports.size()), "port");
      Port port{p.name.name, p.name.at, provide, {}, p.data};
      for (const Named& n : p.places) {
        u32 k = look_up(places_, n, "place", fmt::format("the group of port `{}`", p.name.name.text()));
        if (k != kNone) port.places.push_back(k);
      }
      if (p.places.empty())
        diagnostics_.error(
            "MODEL-EMPTY-GROUP", p.name.at,
            fmt::format("the group of port `{}` of {} is empty: it can never be active", p.name.name.text(), here()));
      type_.ports.push_back(std::move(port));
    };
    for (const PortSource& p : source_.uses) add(p, false);
    type_.uses = static_cast<u32>(type_.ports.size());
    for (const PortSource& p : source_.provides) add(p, true);
  }

  void bind_ports() {
    std::size_t np = type_.ports.size(), nb = type_.behaviours.size();
    type_.group = BitRows(np, type_.elements);
    type_.ports_of = BitRows(type_.elements, np);
    type_.exits = BitRows(nb * np, type_.places.size());
    for (u32 q = 0; q < np; ++q) {
      for (u32 p : type_.ports[q].places) type_.group.set(q, p);
      for (u32 k = 0; k < type_.transitions.size(); ++k) {
        const Transition& t = type_.transitions[k];
        if (!type_.group.test(q, t.source)) continue;
        auto outcomes = type_.outcomes_of(t);
        if (!std::all_of(outcomes.begin(), outcomes.end(),
                         [&](const Outcome& o) { return type_.group.test(q, type_.stations[o.station].place); }))
          continue;
        type_.group.set(q, type_.transition_element(k));
        for (const Outcome& o : outcomes) type_.group.set(q, o.ending);
      }
      for_each_bit(type_.group.row(q), type_.group.words(), [&](u32 e) { type_.ports_of.set(e, q); });
      if (!type_.ports[q].provide) continue;
      for (u32 b = 0; b < nb; ++b)
        for (u32 p : type_.ports[q].places) {
          auto leaving = out(p, b);
          if (!leaving.empty() && std::none_of(leaving.begin(), leaving.end(),
                                               [&](u32 k) { return type_.group.test(q, type_.transition_element(k)); }))
            type_.exits.set(b * np + q, p);
        }
    }
    for (u32 q = 0; q < type_.uses; ++q)
      for (u32 p : type_.initial)
        if (type_.group.test(q, p))
          diagnostics_
              .warning(
                  "MODEL-INITIAL-USE", type_.ports[q].at,
                  fmt::format("use port `{}` of {} is active from the start, before anything can be connected to it",
                              type_.ports[q].name.text(), here()))
              .note("what is connected to it can then do nothing until it provides the port");
  }

  // Kahn's algorithm on the places, per behaviour; what is left over holds the cycle.
  void check_cycles() {
    std::vector<u32> incoming(type_.places.size());
    std::vector<u32> ready;
    for (u32 b = 0; b < type_.behaviours.size(); ++b) {
      const Behaviour& behaviour = type_.behaviours[b];
      if (behaviour.transitions.empty()) {
        if (!type_.transitions.empty())
          diagnostics_.warning("MODEL-EMPTY-BEHAVIOUR", behaviour.at,
                               fmt::format("behaviour `{}` of {} has no transition", behaviour.name.text(), here()));
        continue;
      }
      std::fill(incoming.begin(), incoming.end(), 0);
      for (u32 k : behaviour.transitions)
        for (const Outcome& o : type_.outcomes_of(type_.transitions[k])) ++incoming[type_.stations[o.station].place];
      ready.clear();
      for (u32 p = 0; p < incoming.size(); ++p)
        if (incoming[p] == 0) ready.push_back(p);
      std::size_t done = 0;
      while (!ready.empty()) {
        u32 p = ready.back();
        ready.pop_back();
        ++done;
        for (u32 k : out(p, b))
          for (const Outcome& o : type_.outcomes_of(type_.transitions[k]))
            if (--incoming[type_.stations[o.station].place] == 0) ready.push_back(type_.stations[o.station].place);
      }
      if (done != incoming.size()) report_cycle(b, incoming);
    }
  }

  void report_cycle(u32 b, const std::vector<u32>& incoming) {
    // Everything left has a predecessor that is left: walking back from any of them closes a loop.
    std::vector<u32> before(type_.places.size(), kNone);
    for (u32 k : type_.behaviours[b].transitions) {
      const Transition& t = type_.transitions[k];
      if (incoming[t.source] == 0) continue;
      for (const Outcome& o : type_.outcomes_of(t)) before[type_.stations[o.station].place] = t.source;
    }
    u32 p = 0;
    while (incoming[p] == 0 || before[p] == kNone) ++p;
    std::vector<bool> seen(type_.places.size());
    while (!seen[p]) seen[p] = true, p = before[p];
    std::vector<u32> loop{p};
    for (u32 q = before[p]; q != p; q = before[q]) loop.push_back(q);
    loop.push_back(p);
    std::reverse(loop.begin(), loop.end());
    std::string path;
    for (u32 q : loop) path += (path.empty() ? "" : " -> ") + std::string(type_.places[q].name.text());
    diagnostics_
        .error("MODEL-CYCLE", type_.behaviours[b].at,
               fmt::format("behaviour `{}` of {} has a cycle and would never finish", type_.behaviours[b].name.text(),
                           here()))
        .note(path);
  }

  void check_reachable() {
    std::vector<bool> seen(type_.places.size());
    std::vector<u32> todo = type_.initial;
    for (u32 p : todo) seen[p] = true;
    while (!todo.empty()) {
      u32 p = todo.back();
      todo.pop_back();
      for (u32 b = 0; b < type_.behaviours.size(); ++b)
        for (u32 k : out(p, b))
          for (const Outcome& o : type_.outcomes_of(type_.transitions[k])) {
            u32 to = type_.stations[o.station].place;
            if (!seen[to]) seen[to] = true, todo.push_back(to);
          }
    }
    for (u32 p = 0; p < seen.size(); ++p)
      if (!seen[p])
        diagnostics_.error("MODEL-UNREACHABLE-PLACE", type_.places[p].at,
                           fmt::format("no transition leads to place `{}` of {}", type_.places[p].name.text(), here()));
    for (const Port& port : type_.ports)
      if (!port.places.empty() && std::none_of(port.places.begin(), port.places.end(), [&](u32 p) { return seen[p]; }))
        diagnostics_.error("MODEL-DEAD-GROUP", port.at,
                           fmt::format("the group of port `{}` of {} can never be entered", port.name.text(), here()));
  }

  void check_stations() {
    // An explicit station fed from two behaviours waits for both at once, which never happens.
    std::vector<u32> by(type_.stations.size(), kNone);
    for (std::size_t i = 0; i < feeds_.size(); ++i) {
      u32 s = feeds_[i].station, b = feeds_[i].behaviour;
      if (by[s] == kNone) by[s] = b;
      if (by[s] != b)
        diagnostics_.warning(
            "MODEL-MIXED-STATION", type_.at,
            fmt::format("station `{}` of {} waits for transitions of different behaviours and can never be entered",
                        type_.stations[s].name.text(), here()));
    }
    // Two stations of one place in one behaviour, not of one switch: two tokens may meet there and become one.
    std::unordered_map<u64, u32> at;
    for (const Transition& t : type_.transitions)
      for (const Outcome& o : type_.outcomes_of(t)) {
        u64 key = u64{type_.stations[o.station].place} << 32 | t.behaviour;
        auto [it, fresh] = at.emplace(key, o.station);
        if (!fresh && it->second != o.station && !t.is_switch()) {
          diagnostics_.warning(
              "MODEL-MERGE", t.at,
              fmt::format("place `{}` of {} can be entered through two stations of behaviour `{}`: tokens may merge",
                          type_.places[type_.stations[o.station].place].name.text(), here(),
                          t.behaviour == kNone ? "-" : type_.behaviours[t.behaviour].name.text()));
          it->second = o.station;
        }
      }
  }

  struct Feed {
    u32 station, behaviour;
  };

  const TypeSource& source_;
  Diagnostics& diagnostics_;
  ComponentType& type_;
  Index places_, stations_;
  std::vector<std::vector<u32>> in_;       // behaviours of each declared transition
  std::unordered_map<u64, u32> defaults_;  // (place, behaviour) -> station
  std::unordered_map<u64, u32> endings_;   // (declared transition, station) -> ending
  std::vector<Feed> feeds_;                // per ending
  const std::vector<u32>*out_at_ = nullptr, *out_ = nullptr;
};

}  // namespace

std::optional<ComponentType> compile(const TypeSource& source, Diagnostics& diagnostics) {
  ComponentType type;
  Compiler compiler(source, diagnostics, type);
  if (!compiler.run(type.declared_names_, type.out_at_, type.out_)) return std::nullopt;
  return type;
}

u32 ComponentType::find_place(Symbol n) const {
  return find_name(places, n, [](const Named& p) { return p.name; });
}
u32 ComponentType::find_behaviour(Symbol n) const {
  return find_name(behaviours, n, [](const Behaviour& b) { return b.name; });
}
u32 ComponentType::find_port(Symbol n) const {
  return find_name(ports, n, [](const Port& p) { return p.name; });
}
u32 ComponentType::find_declared(Symbol n) const {
  return find_name(declared_names_, n, [](Symbol s) { return s; });
}

HalfWay ComponentType::half_way(u32 e) const {
  if (is_transition(e)) return {element_transition(e), nullptr};
  for (u32 k = 0; k < transitions.size(); ++k)
    for (const Outcome& o : outcomes_of(transitions[k]))
      if (o.ending == e) return {k, &o};
  return {kNone, nullptr};
}

std::string ComponentType::element_name(u32 e) const {
  if (is_place(e)) return std::string(places[e].name.text());
  HalfWay h = half_way(e);
  const Transition& t = transitions[h.transition];
  std::string_view behaviour = t.behaviour == kNone ? "-" : behaviours[t.behaviour].name.text();
  if (!h.ended) return fmt::format("in {} of {}", t.name.text(), behaviour);
  if (!t.is_switch()) return fmt::format("after {} of {}", t.name.text(), behaviour);
  return fmt::format("after {} to {} of {}", t.name.text(), h.ended->name.text(), behaviour);
}

u32 ComponentType::find_element(std::string_view n) const {
  for (u32 e = 0; e < elements; ++e)
    if (is_place(e) ? places[e].name.text() == n : element_name(e) == n) return e;
  return kNone;
}

std::size_t ComponentType::bytes() const {
  return sizeof *this + group.bytes() + ports_of.bytes() + exits.bytes() + transitions.size() * sizeof(Transition) +
         outcomes.size() * sizeof(Outcome) + stations.size() * sizeof(Station) + actions.size() * sizeof(Action);
}

}  // namespace tutti::model
