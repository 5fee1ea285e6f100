#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "model/system.h"

// Small random systems for tests that compare one implementation with another.
namespace tutti::engine {

struct RandomSystemOptions {
  u32 most_types = 2, most_instances = 3, most_places = 4, most_behaviours = 2, most_pushes = 5;
  bool switches = true;
  bool changes = true;    // add, del, con, dcon in the program
  bool half_way = false;  // instances may begin half way through a behaviour
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

  model::Named name(std::string_view prefix, u32 k) { return {Symbol(fmt::format("{}{}", prefix, k)), {}}; }

  model::TypeSource type(u32 number) {
    model::TypeSource t;
    t.name = name("T", number);
    u32 places = 2 + below(o_.most_places - 1);
    for (u32 p = 0; p < places; ++p) t.places.push_back(name("p", p));
    t.initial = {t.places[0]};
    u32 behaviours = 1 + below(o_.most_behaviours), transitions = 0;
    for (u32 b = 0; b < behaviours; ++b) {
      model::BehaviourSource x{name("b", b), {}};
      // Along a random order of the places, so that there is no cycle.
      std::vector<u32> order;
      for (u32 p = 0; p < places; ++p) order.push_back(p);
      if (b || below(2))
        for (u32 p = places; p > 1; --p) std::swap(order[p - 1], order[below(p)]);
      u32 count = 1 + below(4);
      for (u32 k = 0; k < count; ++k) {
        u32 from = below(places - 1), to = from + 1 + below(places - 1 - from);
        model::TransitionSource y;
        y.name = name("t", transitions++);
        y.source = t.places[order[from]];
        y.destinations = {t.places[order[to]]};
        if (o_.switches && below(8) == 0) {
          u32 other = from + 1 + below(places - 1 - from);
          if (other != to) y.destinations.push_back(t.places[order[other]]);
        }
        y.action.duration = model::Duration::fixed(1 + below(9));
        x.transitions.push_back(y.name);
        t.transitions.push_back(y);
      }
      t.behaviours.push_back(x);
    }
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

  std::mt19937_64 random_;
  RandomSystemOptions o_;
};

}  // namespace tutti::engine
