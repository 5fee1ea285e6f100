#pragma once

// Small random systems for tests that compare one implementation with another: in goes a seed and what shapes may
// occur, out comes a system that the model accepts, with a program. The shapes are options because each comparison says
// for itself what it covers; `wide()` has all of them. Systems stay small, so that a search without any reduction can
// look at all their interleavings: a mistake that needs large systems to show was not met yet, one that needs an odd
// shape was, and more than once.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "model/system.h"

namespace tutti::engine {

struct RandomSystemOptions {
  u32 most_types = 2, most_instances = 3, most_places = 4, most_behaviours = 2, most_pushes = 5;
  bool switches = true;
  bool changes = true;    // add, del, con, dcon in the program
  bool half_way = false;  // instances may begin half way through a behaviour
  u32 most_initial = 1;   // initial places of a type
  bool stations = false;  // named stations: tokens meet in a place, switches share a station
  bool shared = false;    // a transition may be in several behaviours
  bool on_fail = false;   // transitions may have a destination for failure
  bool anywhere = false;  // instances may begin with any elements marked, whether or not a run could leave them so

  static RandomSystemOptions wide() { return {2, 3, 4, 3, 7, true, true, true, 3, true, true, true, true}; }
};

class RandomSystem {
 public:
  RandomSystem(u64 seed, const RandomSystemOptions& options = {}) : random_(seed), o_(options) {}

  model::System make() {
    model::System s;
    u32 types = 1 + below(o_.most_types);
    while (s.types.size() < types) {
      Diagnostics quiet;
      auto t = model::compile(type(static_cast<u32>(s.types.size())), quiet);
      if (t) s.types.push_back(std::make_unique<model::ComponentType>(std::move(*t)));
    }
    u32 n = 1 + below(o_.most_instances);
    for (u32 i = 0; i < n; ++i) {
      model::Instance x;
      x.name = Symbol(fmt::format("i{}", i));
      x.type = below(types);
      x.marking = s.types[x.type]->initial;
      x.present = true;
      s.instances.push_back(x);
    }
    s.assembly = n;
    std::vector<bool> linked;
    auto key = [](u32 i, u32 u) { return i * 64 + u; };
    linked.resize(64 * 64);
    for (u32 i = 0; i < n; ++i)
      for (u32 u = 0; u < s.type_of(i).uses; ++u) {
        u32 j, p;
        if (below(5) && provider(s, i, j, p)) s.links.push_back({i, u, j, p}), linked[key(i, u)] = true;
      }
    std::vector<u32> pushes(n);
    u32 length = 2 + below(o_.most_pushes);
    for (u32 k = 0; k < length; ++k) {
      model::Instruction in;
      u32 i = below(static_cast<u32>(s.instances.size()));
      u32 what = o_.changes ? below(12) : below(2) * 11;
      if (deleted(s, i)) continue;
      in.instance = i;
      if (what >= 11) {
        in.op = below(3) ? model::Op::kWait : model::Op::kWaitAll;
        in.upto = pushes[i];
        if (o_.shared && in.op == model::Op::kWait && pushes[i] > 1 && below(2)) {
          in.upto = 1 + below(pushes[i]);
          in.behaviour = pushed(s, i, in.upto);
        }
      } else if (what == 10 && s.instances.size() < n + 1) {
        model::Instance x;
        x.name = Symbol(fmt::format("a{}", s.instances.size()));
        x.type = below(types);
        x.marking = s.types[x.type]->initial;
        in.op = model::Op::kAdd;
        in.instance = static_cast<u32>(s.instances.size());
        s.instances.push_back(x);
        pushes.push_back(0);
      } else if (what >= 8 && s.type_of(i).uses) {
        u32 u = below(s.type_of(i).uses), j, p;
        if (linked[key(i, u)]) {
          in.op = model::Op::kDcon;
          in.port = u;
          link_at(s, i, u, in.provider, in.provide);
          linked[key(i, u)] = false;
        } else if (provider(s, i, j, p) && !deleted(s, j) && known(s, j)) {
          in.op = model::Op::kCon;
          in.port = u, in.provider = j, in.provide = p;
          linked[key(i, u)] = true;
        } else {
          continue;
        }
      } else if (what == 7 && below(3) == 0) {
        in.op = model::Op::kDel;
      } else {
        in.op = model::Op::kPush;
        in.behaviour = below(static_cast<u32>(s.type_of(i).behaviours.size()));
        ++pushes[i];
      }
      if (in.instance != i || known(s, in.instance)) s.program.push_back(in);
    }
    if (o_.half_way)
      for (model::Instance& x : s.instances)
        if (below(2)) x.marking = walked(*s.types[x.type]);
    if (o_.anywhere)
      for (model::Instance& x : s.instances)
        if (below(6) == 0) x.marking = anywhere(*s.types[x.type]);
    return s;
  }

  u32 below(u32 n) { return n ? static_cast<u32>(random_() % n) : 0; }

 private:
  // Present at this point of the program: there from the start or added, and not deleted.
  static bool known(const model::System& s, u32 i) {
    if (s.instances[i].present) return true;
    for (const auto& in : s.program)
      if (in.op == model::Op::kAdd && in.instance == i) return true;
    return false;
  }
  static bool deleted(const model::System& s, u32 i) {
    for (const auto& in : s.program)
      if (in.op == model::Op::kDel && in.instance == i) return true;
    return false;
  }
  // The behaviour of the program's nth push on an instance.
  static u32 pushed(const model::System& s, u32 i, u32 nth) {
    for (const auto& in : s.program)
      if (in.op == model::Op::kPush && in.instance == i && --nth == 0) return in.behaviour;
    return model::kNone;
  }
  static void link_at(const model::System& s, u32 i, u32 u, u32& j, u32& p) {
    for (const auto& l : s.links)
      if (l.user == i && l.use == u) j = l.provider, p = l.provide;
    for (const auto& in : s.program)
      if (in.op == model::Op::kCon && in.instance == i && in.port == u) j = in.provider, p = in.provide;
  }
  bool provider(const model::System& s, u32 i, u32& j, u32& p) {
    for (int tries = 0; tries < 8; ++tries) {
      j = below(static_cast<u32>(s.instances.size()));
      const auto& t = s.type_of(j);
      if (j == i || t.uses == t.ports.size()) continue;
      p = t.uses + below(static_cast<u32>(t.ports.size()) - t.uses);
      return true;
    }
    return false;
  }

  // Where some behaviour may have left the tokens of an instance that is alone.
  model::Marking walked(const model::ComponentType& t) {
    std::vector<bool> marked(t.elements);
    for (u32 p : t.initial) marked[p] = true;
    u32 b = below(static_cast<u32>(t.behaviours.size()));
    for (u32 steps = below(8); steps; --steps) {
      u32 e = below(t.elements);
      while (!marked[e]) e = (e + 1) % t.elements;
      if (t.is_place(e)) {
        if (t.out(e, b).empty()) continue;
        marked[e] = false;
        for (u32 k : t.out(e, b)) marked[t.transition_element(k)] = true;
      } else if (t.is_transition(e)) {
        auto outcomes = t.outcomes_of(t.transitions[t.element_transition(e)]);
        marked[e] = false;
        marked[outcomes[below(static_cast<u32>(outcomes.size()))].ending] = true;
      } else {
        const model::Station& s = t.stations[t.half_way(e).ended->station];
        auto needs = t.needs_of(s);
        if (!std::all_of(needs.begin(), needs.end(), [&](u32 n) { return marked[n]; })) continue;
        for (u32 n : needs) marked[n] = false;
        marked[s.place] = true;
      }
    }
    model::Marking out;
    for (u32 e = 0; e < t.elements; ++e)
      if (marked[e]) out.push_back(e);
    return out;
  }

  model::Marking anywhere(const model::ComponentType& t) {
    std::vector<bool> marked(t.elements);
    for (u32 n = 1 + below(3); n; --n) marked[below(t.elements)] = true;
    model::Marking out;
    for (u32 e = 0; e < t.elements; ++e)
      if (marked[e]) out.push_back(e);
    return out;
  }

  model::Named name(std::string_view prefix, u32 k) { return {Symbol(fmt::format("{}{}", prefix, k)), {}}; }

  model::TypeSource type(u32 number) {
    model::TypeSource t;
    t.name = name("T", number);
    u32 places = 2 + below(o_.most_places - 1);
    for (u32 p = 0; p < places; ++p) t.places.push_back(name("p", p));
    t.initial = {t.places[0]};
    for (u32 more = below(o_.most_initial); more; --more) {
      const model::Named& p = t.places[below(places)];
      if (std::none_of(t.initial.begin(), t.initial.end(), [&](const model::Named& x) { return x.name == p.name; }))
        t.initial.push_back(p);
    }
    for (u32 n = o_.stations ? below(4) : 0; n; --n) {
      u32 p = below(places);
      t.stations.push_back({name("s", static_cast<u32>(t.stations.size())), t.places[p]});
      station_of_.push_back({p, t.stations.back().name});
    }
    u32 behaviours = 1 + below(o_.most_behaviours);
    for (u32 b = 0; b < behaviours; ++b) add_behaviour(t, b);
    station_of_.clear();
    auto group = [&](bool skip_initial) {
      std::vector<model::Named> g;
      for (u32 p = skip_initial ? 1 : 0; p < places; ++p)
        if (below(2)) g.push_back(t.places[p]);
      if (g.empty()) g.push_back(t.places[places - 1]);
      return g;
    };
    for (u32 u = 0, n = below(3); u < n; ++u) t.uses.push_back({name("u", u), group(true), {}});
    for (u32 p = 0, n = 1 + below(2); p < n; ++p) t.provides.push_back({name("v", p), group(false), {}});
    return t;
  }

  void add_behaviour(model::TypeSource& t, u32 b) {
    u32 places = static_cast<u32>(t.places.size());
    model::BehaviourSource x{name("b", b), {}};
    // Along a random order of the places, so that there is no cycle.
    std::vector<u32> order;
    for (u32 p = 0; p < places; ++p) order.push_back(p);
    if (b || below(2))
      for (u32 p = places; p > 1; --p) std::swap(order[p - 1], order[below(p)]);
    u32 count = 1 + below(4);
    for (u32 k = 0; k < count; ++k) {
      if (o_.shared && !t.transitions.empty() && below(6) == 0) {  // perhaps a cycle: then the type is made again
        x.transitions.push_back(t.transitions[below(static_cast<u32>(t.transitions.size()))].name);
        continue;
      }
      u32 from = below(places - 1);
      auto later = [&] { return from + 1 + below(places - 1 - from); };
      u32 to = later();
      model::TransitionSource y;
      y.name = name("t", static_cast<u32>(t.transitions.size()));
      y.source = t.places[order[from]];
      y.destinations = {destination(t, order[to])};
      if (o_.switches && below(o_.stations ? 4 : 8) == 0)
        if (u32 other = later(); other != to) y.destinations.push_back(destination(t, order[other]));
      if (o_.on_fail && below(6) == 0)
        if (u32 other = later(); other != to && y.destinations.size() == 1) y.on_failure = destination(t, order[other]);
      y.action.duration = model::Duration::fixed(1 + below(9));
      x.transitions.push_back(y.name);
      t.transitions.push_back(y);
    }
    t.behaviours.push_back(x);
  }

  // A place, or a named station of it.
  model::Named destination(const model::TypeSource& t, u32 place) {
    std::vector<model::Named> of{t.places[place]};
    for (const auto& [p, station] : station_of_)
      if (p == place) of.push_back(station);
    return of[of.size() > 1 ? below(static_cast<u32>(of.size())) : 0];
  }

  std::mt19937_64 random_;
  RandomSystemOptions o_;
  std::vector<std::pair<u32, model::Named>> station_of_;  // of the type that is being made
};

}  // namespace tutti::engine
