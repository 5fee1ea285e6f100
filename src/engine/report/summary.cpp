#include "engine/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tutti::engine {

using model::ComponentType;
using model::kNone;

namespace {

// `choice`: which outcome each switch of the behaviour has.
BehaviourSummary one(const ComponentType& t, u32 b, const std::vector<u32>& from, const std::map<u32, u32>& choice) {
  BehaviourSummary s{b, from, {}, {}, {}, kNone};
  auto outcome_of = [&](u32 k) -> const model::Outcome& {
    auto chosen = choice.find(k);
    return t.outcomes[t.transitions[k].first_outcome + (chosen == choice.end() ? 0 : chosen->second)];
  };
  auto place_of = [&](u32 k) { return t.stations[outcome_of(k).station].place; };
  // Depth of every place reached: the longest way there. A behaviour has no cycle, so this ends.
  std::map<u32, u32> depth;
  for (u32 p : from) depth[p] = 0;
  bool changed = true;
  while (changed) {
    changed = false;
    std::map<u32, u32> seen = depth;
    for (const auto& [p, d] : seen)
      for (u32 k : t.out(p, b)) {
        auto [it, fresh] = depth.emplace(place_of(k), d + 1);
        if (fresh)
          changed = true;
        else if (it->second < d + 1)
          it->second = d + 1, changed = true;
      }
  }
  std::set<u32> ended;  // endings that are reached
  for (const auto& [p, d] : depth)
    for (u32 k : t.out(p, b)) {
      ended.insert(outcome_of(k).ending);
      if (t.transitions[k].outcomes > 1) s.switches.push_back({k, choice.at(k)});
    }
  for (u32 e = 0; e < t.stations.size(); ++e) {
    auto needs = t.needs_of(t.stations[e]);
    auto have = std::count_if(needs.begin(), needs.end(), [&](u32 x) { return ended.count(x) != 0; });
    if (have > 0 && have < static_cast<std::ptrdiff_t>(needs.size())) s.stuck = t.stations[e].place;
  }
  std::vector<std::pair<u32, u32>> order;
  for (const auto& [p, d] : depth) order.push_back({d, p});
  std::sort(order.begin(), order.end());
  std::set<u32> active;
  for (u32 q = 0; q < t.ports.size(); ++q)
    if (std::any_of(from.begin(), from.end(), [&](u32 p) { return t.group.test(q, p); })) active.insert(q);
  for (const auto& [d, p] : order)
    if (t.out(p, b).empty()) s.to.push_back(p);
  std::sort(s.to.begin(), s.to.end());
  using Kind = BehaviourSummary::Line::Kind;
  for (const auto& [d, p] : order) {
    if (d > 0)
      for (u32 q = 0; q < t.ports.size(); ++q)
        if (t.group.test(q, p) && active.insert(q).second)
          s.lines.push_back({t.ports[q].provide ? Kind::kProvides : Kind::kTakes, q, p, d});
    auto out = t.out(p, b);
    if (out.empty()) continue;
    for (u32 q = 0; q < t.ports.size(); ++q) {
      if (!t.group.test(q, p) || !active.count(q)) continue;
      if (std::any_of(out.begin(), out.end(), [&](u32 k) { return t.group.test(q, t.transition_element(k)); }))
        continue;
      // Gone when no other place of the group is still to be left or stays.
      bool others = std::any_of(order.begin(), order.end(), [&](const auto& x) {
        return x.second != p && t.group.test(q, x.second) && (x.first > d || t.out(x.second, b).empty()) &&
               depth[x.second] >= d;
      });
      if (others) continue;
      active.erase(q);
      s.lines.push_back({t.ports[q].provide ? Kind::kWithdraws : Kind::kReleases, q, p, d});
    }
  }
  return s;
}

std::string places(const ComponentType& t, const std::vector<u32>& list) {
  std::string s;
  for (u32 p : list) s += (s.empty() ? "" : " + ") + std::string(t.places[p].name.text());
  return s;
}

}  // namespace

std::vector<BehaviourSummary> summarise(const ComponentType& t) {
  std::vector<BehaviourSummary> all;
  std::vector<u32> initial = t.initial;
  std::sort(initial.begin(), initial.end());
  std::set<std::vector<u32>> seen{initial};
  std::vector<std::vector<u32>> todo{initial};
  for (std::size_t at = 0; at < todo.size() && at < 200; ++at)
    for (u32 b = 0; b < t.behaviours.size(); ++b) {
      // Every way its switches can end; those that are not met do not count.
      std::map<u32, u32> choice;
      for (u32 k : t.behaviours[b].transitions)
        if (t.transitions[k].outcomes > 1) choice[k] = 0;
      std::set<std::vector<std::pair<u32, u32>>> told;
      for (int most = 64; most > 0; --most) {
        BehaviourSummary s = one(t, b, todo[at], choice);
        if (told.insert(s.switches).second && s.to != todo[at]) {
          if (s.stuck == kNone && seen.insert(s.to).second) todo.push_back(s.to);
          all.push_back(std::move(s));
        }
        auto next = choice.begin();
        while (next != choice.end() && ++next->second == t.transitions[next->first].outcomes) (next++)->second = 0;
        if (next == choice.end()) break;
      }
    }
  return all;
}

std::string summary_text(const ComponentType& t) {
  std::string out = fmt::format("{}\n", t.name.text());
  using Kind = BehaviourSummary::Line::Kind;
  for (const BehaviourSummary& s : summarise(t)) {
    bool stuck = s.stuck != kNone;
    out += fmt::format("  {}: {}{}", t.behaviours[s.behaviour].name.text(), places(t, s.from),
                       stuck ? ", never finished" : " -> " + places(t, s.to));
    for (const auto& [k, o] : s.switches) {
      const model::Transition& x = t.transitions[k];
      const model::Outcome& outcome = t.outcomes_of(x)[o];
      out += &s.switches.front().first == &k ? " when " : " and ";
      out += outcome.on_failure ? fmt::format("{} fails", x.name.text())
                                : fmt::format("{} ends with {}", x.name.text(), outcome.name.text());
    }
    out += '\n';
    if (stuck) {
      out += fmt::format("    not all that {} waits for ends there\n", t.places[s.stuck].name.text());
      continue;
    }
    for (const auto& l : s.lines) {
      std::string_view port = t.ports[l.port].name.text(), place = t.places[l.place].name.text();
      switch (l.kind) {
        case Kind::kTakes: out += fmt::format("    needs {} to enter {}\n", port, place); break;
        case Kind::kProvides: out += fmt::format("    provides {} from {} on\n", port, place); break;
        case Kind::kReleases: out += fmt::format("    releases {} when it leaves {}\n", port, place); break;
        case Kind::kWithdraws:
          out += fmt::format("    withdraws {} when it leaves {}, after its users have\n", port, place);
          break;
      }
    }
  }
  return out;
}

}  // namespace tutti::engine
