#include "engine/plan/words.h"

#include <algorithm>
#include <set>

namespace tutti::engine {

using model::ComponentType;

Passage pass(const ComponentType& type, const Marking& from, u32 b) {
  Passage p;
  std::set<u32> end, visited;
  std::vector<u32> tokens;
  std::vector<u8> arrived(type.elements, 0);
  std::size_t steps = 0, waiting = 0;
  auto arrive = [&](const model::Outcome& o) {
    waiting += arrived[o.ending] == 0;
    arrived[o.ending] = 1;
    const model::Station& s = type.stations[o.station];
    auto needs = type.needs_of(s);
    if (!std::all_of(needs.begin(), needs.end(), [&](u32 e) { return arrived[e] != 0; })) return;
    for (u32 e : needs) arrived[e] = 0;
    waiting -= needs.size();
    visited.insert(s.place);
    tokens.push_back(s.place);
  };
  auto run = [&](u32 t) {
    p.fired.push_back(t);
    arrive(type.outcomes_of(type.transitions[t])[0]);
  };
  for (u32 e : from) {
    if (type.is_place(e)) {
      tokens.push_back(e);
      continue;
    }
    p.moved = true;
    model::HalfWay h = type.half_way(e);
    h.ended ? arrive(*h.ended) : run(h.transition);
  }
  while (!tokens.empty() && ++steps < 100000) {
    u32 place = tokens.back();
    tokens.pop_back();
    auto out = type.out(place, b);
    if (out.empty()) {
      end.insert(place);
      continue;
    }
    p.moved = true;
    visited.insert(place);
    for (u32 t : out) run(t);
  }
  p.finishes = waiting == 0;
  p.end.assign(end.begin(), end.end());
  p.visited.assign(visited.begin(), visited.end());
  return p;
}

bool active(const ComponentType& type, const Marking& marking, u32 port) {
  return std::any_of(marking.begin(), marking.end(), [&](u32 e) { return type.group.test(port, e); });
}

bool drops(const ComponentType& type, const Marking& from, const std::vector<u32>& word, u32 port) {
  Marking at = from;
  for (u32 b : word) {
    Passage p = pass(type, at, b);
    // With one token every place visited outside the group is a moment without the port; with several, a token may stay
    // inside meanwhile: then only the ends tell.
    bool outside = std::any_of(p.visited.begin(), p.visited.end(),
                               [&](u32 q) { return !type.group.test(port, type.place_element(q)); });
    if (active(type, at, port) && outside && at.size() == 1) return true;
    if (active(type, at, port) && !active(type, p.end, port)) return true;
    at = p.end;
  }
  return false;
}

u32 first_without(const ComponentType& type, const Marking& from, const std::vector<u32>& word, u32 port) {
  if (from.size() != 1 || !type.is_place(from[0])) return model::kNone;
  u32 place = from[0];
  for (u32 b : word)
    for (auto out = type.out(place, b); !out.empty(); out = type.out(place, b)) {
      if (out.size() != 1) return model::kNone;
      const model::Station& s = type.stations[type.outcomes_of(type.transitions[out[0]])[0].station];
      if (type.needs_of(s).size() != 1) return model::kNone;
      place = s.place;
      if (!type.group.test(port, type.place_element(place))) return place;
    }
  return model::kNone;
}

Marking run_word(const ComponentType& type, Marking from, const std::vector<u32>& word) {
  for (u32 b : word) from = pass(type, from, b).end;
  return from;
}

std::vector<WordSearch::Node> WordSearch::expand(const Node& n) const {
  std::vector<Node> out;
  for (u32 b = 0; b < type.behaviours.size(); ++b) {
    Passage p = pass(type, n.marking, b);
    if (!p.moved || !p.finishes) continue;
    double cost = n.cost + 1e-3;
    for (u32 t : p.fired) cost += type.action_of(type.transitions[t]).duration.mean() + 1e-4;
    Node next{p.end, cost, n.word};
    next.word.push_back(b);
    out.push_back(std::move(next));
  }
  return out;
}

}  // namespace tutti::engine
