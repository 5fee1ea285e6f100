#include <fmt/format.h>

#include <algorithm>

#include "engine/plan/planner.h"

namespace tutti::engine {
namespace {

bool is_up(const Item& item, const model::Invariant& inv) {
  u32 port = item.type->find_port(inv.port.empty() ? item.kind.service : inv.port);
  return item.was && !item.down && port != model::kNone && active(*item.type, item.at, port);
}

std::string why_interrupted(const PlanChange& c) {
  std::vector<std::string> paths;
  for (auto& d : c.details) paths.push_back(d.path);
  if (c.kind == PlanChange::Kind::kRemove) return "is removed";
  if (paths.empty()) return c.why.empty() ? "is interrupted" : fmt::format("is interrupted ({})", c.why);
  if (paths.size() > 3) paths.resize(3), paths.push_back("...");
  return fmt::format("is interrupted to change {}", fmt::join(paths, ", "));
}

std::string listed(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names[0];
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

}  // namespace

void Planner::count_what_goes() {
  for (auto& inv : invariants_)
    for (std::size_t i = 0; i < existing_; ++i) {
      Symbol name(items_[i].component);
      if (items_[i].was && inv.asks_for(name.text()) && std::find(inv.of.begin(), inv.of.end(), name) == inv.of.end())
        inv.of.push_back(name);
    }
}

void Planner::hold_when_all_is_done() {
  if (!options_.only.empty()) return;  // the others may be anywhere
  for (auto& inv : wanted_.invariants) {
    u32 up = 0;
    for (Symbol s : inv.of) {
      auto i = item_of(by_new_, s);
      if (!i) continue;
      const Item& item = items_[*i];
      u32 port = item.type->find_port(inv.port.empty() ? item.kind.service : inv.port);
      u32 place = item.type->find_place(item.goal);
      if (port != model::kNone && place != model::kNone && item.type->group.test(port, item.type->place_element(place)))
        ++up;
    }
    bool at_least = inv.kind == model::Invariant::Kind::kAtLeast;
    if (at_least ? up >= inv.count : up <= inv.count) continue;
    session_.diagnostics.error("DEPLOY-INVARIANT", inv.at,
                               fmt::format("the wanted system itself breaks this: {}, and {} {} wanted so", inv.text(),
                                           up == 0 ? "none" : std::to_string(up), up < 2 ? "is" : "are"));
  }
}

Planner::Members Planner::members_of(const model::Invariant& inv) const {
  Members m;
  for (Symbol s : inv.of) {
    auto i = item_of(by_new_, s);
    if (!i) continue;
    const Item& item = items_[*i];
    if (is_up(item, inv)) {
      ++m.up;
      if (interrupted(item)) m.interrupted.push_back(*i);
    } else if (item.busy()) {
      m.coming.push_back(*i);
    }
  }
  for (std::size_t i = 0; i < existing_; ++i)
    if (goes(items_[i]) && is_up(items_[i], inv) &&
        std::find(inv.of.begin(), inv.of.end(), Symbol(items_[i].component)) != inv.of.end()) {
      ++m.up;
      m.going.push_back(i);
    }
  return m;
}

std::vector<Planner::Group> Planner::down_together(const Members& m) const {
  std::vector<Group> groups;
  std::vector<std::vector<bool>> later;  // of the first of each: what comes after it is down
  for (std::size_t i : m.interrupted) {
    auto after = moments_->after(Moments::down(i));
    std::size_t k = 0;
    while (k < groups.size() && !(after[Moments::up(groups[k][0])] && later[k][Moments::up(i)])) ++k;
    if (k == groups.size()) groups.emplace_back(), later.push_back(std::move(after));
    groups[k].push_back(i);
  }
  for (std::size_t g : m.going) {
    auto after = moments_->after(Moments::down(g));
    auto with = std::find_if(groups.begin(), groups.end(), [&](const Group& x) { return after[Moments::up(x[0])]; });
    if (with != groups.end()) with->push_back(g);
  }
  return groups;
}

void Planner::keep(const model::Invariant& inv) {
  Members m = members_of(inv);
  auto up = [](const Group& items) {
    std::vector<Moments::Moment> out;
    for (std::size_t i : items) out.push_back(Moments::up(i));
    return out;
  };
  if (inv.kind == model::Invariant::Kind::kAtMost) {
    // Who comes waits for those that go, where there is no room for both.
    if (m.up + m.coming.size() > inv.count)
      for (std::size_t c : m.coming) moments_->prefer(up(m.going), Moments::down(c));
    return;
  }
  std::vector<Group> groups = down_together(m);
  Group down;
  std::size_t largest = 0;
  for (auto& g : groups) {
    largest = std::max(largest, g.size());
    down.insert(down.end(), g.begin(), g.end());
  }
  std::set<std::size_t> with_others(down.begin(), down.end());
  Group renamed;
  for (std::size_t g : m.going)
    if (!with_others.count(g) && renamed_as(g)) renamed.push_back(g);
  // Who comes under another name holds what the old one holds: that goes first, where it can be spared.
  bool spared = m.up >= inv.count + down.size() + renamed.size();
  for (std::size_t g : m.going)
    if (!with_others.count(g)) {
      Group coming = m.coming;
      if (auto other = renamed_as(g); other && spared) std::erase(coming, *other);
      moments_->prefer(up(down), Moments::down(g));
      if (!moments_->prefer(up(coming), Moments::down(g)) && m.up >= inv.count) cannot_[&inv] = why_down({g});
    }
  // So many may be down at once. Those to come count only where the others wait for them, which is where without
  // them too few could be spared.
  std::size_t spare = m.up > inv.count ? m.up - inv.count : 0;
  if (down.size() <= spare) return;
  if (largest > spare) {
    std::set<std::size_t> late;
    for (std::size_t i : down) {
      auto after = moments_->after(Moments::down(i));
      for (std::size_t c : m.coming)
        if (after[Moments::up(c)]) late.insert(c);
      moments_->prefer(up(m.coming), Moments::down(i));
    }
    spare += m.coming.size() - late.size();
  }
  for (auto& group : groups)
    if (group.size() > spare && m.up >= inv.count && !cannot_.count(&inv)) cannot_[&inv] = why_down(group);
  // Wave by wave: each as large as can be spared, and the next when it is up again.
  spare = std::max<std::size_t>(spare, 1);
  Group before, wave;
  for (auto& group : groups) {
    if (!wave.empty() && wave.size() + group.size() > spare) before = std::move(wave), wave.clear();
    for (std::size_t i : group) moments_->prefer(up(before), Moments::down(i));
    wave.insert(wave.end(), group.begin(), group.end());
  }
}

std::vector<std::string> Planner::uses_path(std::size_t from, std::size_t to) const {
  std::map<std::size_t, std::size_t> came{{from, from}};
  std::vector<std::size_t> todo{from};
  for (std::size_t k = 0; k < todo.size(); ++k)
    for (auto& n : items_[todo[k]].old_needs)
      if (auto p = item_of(by_old_, n.provider); p && n.hold && came.emplace(*p, todo[k]).second) todo.push_back(*p);
  std::vector<std::string> names;
  if (!came.count(to)) return names;
  for (std::size_t at = to;; at = came.at(at)) {
    names.insert(names.begin(), items_[at].component);
    if (at == from) return names;
  }
}

std::string Planner::why_down(const std::vector<std::size_t>& group) const {
  for (std::size_t p = 0; p < existing_; ++p) {
    const Item& cause = items_[p];
    if (!cause.busy() || !cause.change || cause.change->kind == PlanChange::Kind::kInterrupt) continue;
    std::vector<std::string> direct, indirect;
    bool all = true;
    for (std::size_t i : group) {
      if (i == p) continue;
      auto way = uses_path(i, p);
      all = all && !way.empty() && moments_->before(Moments::down(i), Moments::down(p));
      if (way.size() == 2) direct.push_back(way[0]);
      if (way.size() > 2)
        indirect.push_back(fmt::format("{} uses {}", way[0], fmt::join(way.begin() + 1, way.end(), ", which uses ")));
    }
    if (!all) continue;
    if (!direct.empty())
      indirect.insert(indirect.begin(),
                      fmt::format("{} {} {}", listed(direct), direct.size() > 1 ? "use" : "uses", cause.component));
    std::string why = why_interrupted(*cause.change);
    if (indirect.empty()) return fmt::format("{} {}, and there is none to spare", cause.component, why);
    return fmt::format("{}, which {}", listed(indirect), why);
  }
  return "";
}

}  // namespace tutti::engine
