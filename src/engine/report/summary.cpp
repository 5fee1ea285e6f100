#include "engine/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tutti::engine {

using model::ComponentType;
using model::kNone;

namespace {

BehaviourSummary one(const ComponentType& t, u32 b, const std::vector<u32>& from) {
  BehaviourSummary s{b, from, {}, {}};
  auto place_of = [&](u32 k) { return t.stations[t.outcomes[t.transitions[k].first_outcome].station].place; };
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
      BehaviourSummary s = one(t, b, todo[at]);
      if (s.to == todo[at]) continue;
      if (seen.insert(s.to).second) todo.push_back(s.to);
      all.push_back(std::move(s));
    }
  return all;
}

std::string summary_text(const ComponentType& t) {
  std::string out = fmt::format("{}\n", t.name.text());
  using Kind = BehaviourSummary::Line::Kind;
  for (const BehaviourSummary& s : summarise(t)) {
    out += fmt::format("  {}: {} -> {}\n", t.behaviours[s.behaviour].name.text(), places(t, s.from), places(t, s.to));
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
