#include <fmt/format.h>

#include <algorithm>

#include "engine/plan/planner.h"

namespace tutti::engine {
namespace {

// How far its word leads until it has let go of something that it has; 0 where nothing lies behind that.
std::size_t cut_of(const Item& item) {
  Marking m = item.at;
  for (std::size_t k = 0; k + 1 < item.first.size(); ++k) {
    m = pass(*item.type, m, item.first[k]).end;
    for (u32 q = 0; q < item.type->ports.size(); ++q)
      if (active(*item.type, item.at, q) && !active(*item.type, m, q)) return k + 1;
  }
  return 0;
}

// Whether a port of it becomes active on its way.
bool enters(const Item& item, u32 port) {
  Marking m = item.at;
  bool was = active(*item.type, m, port);
  for (u32 b : item.word()) {
    Passage p = pass(*item.type, m, b);
    bool there = std::any_of(p.visited.begin(), p.visited.end(),
                             [&](u32 q) { return item.type->group.test(port, item.type->place_element(q)); });
    if (there && (!was || drops(*item.type, m, {b}, port))) return true;
    m = p.end;
    was = active(*item.type, m, port);
  }
  return false;
}

// Whether it does something on its way out of the places in which it needs the port.
bool acts_letting_go(const Item& item, u32 port) {
  const model::ComponentType& type = *item.type;
  for (u32 b : item.word())
    for (u32 t : type.behaviours[b].transitions)
      if (type.group.test(port, type.place_element(type.transitions[t].source)) &&
          !type.group.test(port, type.transition_element(t)) &&
          !type.action_of(type.transitions[t]).what.is(Kind::kNull))
        return true;
  return false;
}

bool comes_and_goes(const Item& provider, u32 port) {
  return !active(*provider.type, provider.at, port) || drops(*provider.type, provider.at, provider.word(), port);
}

}  // namespace

std::optional<std::size_t> Planner::item_of(const std::map<std::string, std::size_t>& by, Symbol component) const {
  auto it = by.find(std::string(component.text()));
  if (it == by.end()) return std::nullopt;
  return it->second;
}

void Planner::order() {
  moments_.emplace(items_.size());
  follow_ports();
  link_in_use();
  for (std::size_t i = 0; i < existing_; ++i) make_way(i);
  for (std::size_t i = 0; i < items_.size(); ++i) leave_before(i);
  for (auto& inv : invariants_) keep(inv);
  for (std::size_t i = 0; i < existing_; ++i) follow_renamed(i);
  for (auto [sooner, later] : turns_) moments_->prefer(Moments::up(sooner), Moments::down(later));
  for (std::size_t i = 0; i < items_.size(); ++i) come_after(i);
  for (std::size_t i = 0; i < items_.size(); ++i) go_last(i);
  moments_->settle();
  for (std::size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    if (moments_->turn(Moments::down(i)) == moments_->turn(Moments::up(i)) || !item.second.empty()) continue;
    auto cut = item.first.begin() + static_cast<std::ptrdiff_t>(cut_of(item));
    item.second.assign(cut, item.first.end());
    item.first.erase(cut, item.first.end());
  }
}

void Planner::follow_ports() {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (!item.busy()) continue;
    if (!item.was || goes(item) || (item.second.empty() && cut_of(item) == 0)) moments_->join(i);
    if (item.was)
      for (auto& n : item.old_needs) {
        auto p = item_of(by_old_, n.provider);
        u32 use = item.type->find_port(n.port);
        if (!p || !items_[*p].busy() || use == model::kNone || !active(*item.type, item.at, use)) continue;
        u32 provide = items_[*p].type->find_port(n.provide);
        if (provide != model::kNone && drops(*items_[*p].type, items_[*p].at, items_[*p].word(), provide))
          moments_->must(Moments::down(i), Moments::down(*p));
      }
    for (auto& n : item.new_needs) {
      auto p = item_of(by_new_, n.provider);
      u32 use = item.type->find_port(n.port);
      if (!p || !items_[*p].busy() || use == model::kNone || !enters(item, use)) continue;
      u32 provide = items_[*p].type->find_port(n.provide);
      if (provide != model::kNone && comes_and_goes(items_[*p], provide))
        moments_->must(Moments::up(*p), Moments::up(i));
    }
    for (auto& o : item.orders) moments_->must(Moments::up(*ordered_after(item, o)), Moments::up(i));
  }
}

void Planner::link_in_use() {
  for (std::size_t i = 0; i < existing_; ++i) {
    const Item& item = items_[i];
    if (!item.want) continue;
    Marking then = item.linked_first ? item.at : run_word(*item.type, item.at, item.first);
    for (auto& n : item.link) {
      auto p = item_of(by_new_, n.provider);
      u32 use = item.type->find_port(n.port);
      if (p && items_[*p].busy() && use != model::kNone && active(*item.type, then, use))
        moments_->prefer(Moments::up(*p), item.linked_first ? Moments::down(i) : Moments::up(i));
    }
  }
}

void Planner::come_after(std::size_t i) {
  const Item& item = items_[i];
  if (!item.want || (!item.busy() && item.link.empty())) return;
  for (auto& n : item.new_needs) {
    auto p = item_of(by_new_, n.provider);
    if (!p || !items_[*p].busy()) continue;
    // A new one finds a new provider by its port; one that is there already must be told to wait. So must whoever uses
    // what is changed in place: the port is there all the while, and what it stands for is the old one until then.
    u32 provide = items_[*p].type->find_port(n.provide);
    bool in_place = provide != model::kNone && !comes_and_goes(items_[*p], provide);
    bool at_first = !n.hold || in_place || item.resting.count(n.port);
    if (at_first && (items_[*p].was || item.was) && !moments_->prefer(Moments::up(*p), Moments::down(i)))
      moments_->prefer(Moments::up(*p), Moments::up(i));
    // Who moves over to a new one stays with the old one until that is there.
    if (n.hold && item.was && !items_[*p].was && interrupted(item)) moments_->prefer(Moments::up(*p), Moments::down(i));
  }
  // What it no longer needs is there until it has become what it should be.
  for (auto& n : item.dropped)
    if (auto p = item_of(by_old_, n.provider); p && item.busy() && items_[*p].busy())
      moments_->prefer(Moments::up(i), Moments::down(*p));
}

void Planner::leave_before(std::size_t i) {
  const Item& item = items_[i];
  auto leaves = [&](const Item& x) {
    bool asked_away = x.want && x.goal == x.kind.removed && x.goal != x.kind.goal;
    return x.busy() && (goes(x) || asked_away);
  };
  if (!leaves(item)) return;
  for (auto& n : item.want ? item.want->needs : item.old_needs) {
    auto p = item_of(item.want ? by_new_ : by_old_, n.provider);
    if (!p || !leaves(items_[*p])) continue;
    u32 use = item.want ? model::kNone : item.type->find_port(n.port);
    if (item.want || (use != model::kNone && acts_letting_go(item, use)))
      moments_->prefer(Moments::up(i), Moments::down(*p));
  }
}

void Planner::make_way(std::size_t i) {
  const Item& item = items_[i];
  if (goes(item) && item.makes_way) moments_->prefer(Moments::up(i), Moments::down(by_new_.at(item.component)));
}

std::optional<std::size_t> Planner::renamed_as(std::size_t i) const {
  const Item& old = items_[i];
  if (!goes(old) || replaced_.count(old.component)) return std::nullopt;
  for (std::size_t j = existing_; j < items_.size(); ++j)
    if (const Component& c = *items_[j].want; !replaced_.count(items_[j].component) && c.type.text() == old.was->type &&
                                              c.host == old.was->host && equal(c.config, old.was->config))
      return j;
  return std::nullopt;
}

void Planner::follow_renamed(std::size_t i) {
  auto other = renamed_as(i);
  if (!other || items_[i].was->forgotten) return;
  moments_->prefer(Moments::up(i), Moments::down(*other));
  plan_.notes.push_back(fmt::format(
      "`{}` goes and `{}`, which is the same otherwise, comes; `was: {}` says that it only has another name",
      items_[i].component, items_[*other].component, items_[i].component));
}

void Planner::go_last(std::size_t i) {
  const Item& item = items_[i];
  if (!goes(item)) return;
  // What is left of a replacement that failed makes room for the next one.
  std::string whose(left_of(item.component));
  if (auto next = by_new_.find(whose); whose != item.component && next != by_new_.end() && !items_[next->second].was)
    moments_->prefer(Moments::up(i), Moments::down(next->second));
  if (replaced_.count(item.component) && !item.makes_way &&
      !moments_->prefer(Moments::up(by_new_.at(item.component)), Moments::down(i)))
    if (std::string why = why_down({i}); !why.empty())
      plan_.notes.push_back(fmt::format("`{}` goes before the new one comes: {}", item.component, why));
  for (std::size_t d = 0; d < items_.size(); ++d)
    if (d != i && items_[d].want && items_[d].busy())
      for (auto& n : items_[d].old_needs)
        if (!n.hold && n.provider.text() == item.component) moments_->prefer(Moments::up(d), Moments::down(i));
}

}  // namespace tutti::engine
