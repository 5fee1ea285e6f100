#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/plan/planner.h"

namespace tutti::engine {

bool visits(const Item& item, Marking m, const std::vector<u32>& word, u32 place) {
  for (u32 b : word) {
    Passage p = pass(*item.type, m, b);
    if (std::find(p.visited.begin(), p.visited.end(), place) != p.visited.end()) return true;
    m = p.end;
  }
  return false;
}

const std::vector<model::Order>& all_orders(const Item& item) {
  static const std::vector<model::Order> kNone;
  return item.want ? item.want->orders : item.was ? item.was->orders : kNone;
}

bool Planner::can_rest(const Item& user, const Need& n) const {
  auto p = by_old_.find(std::string(n.provider.text()));
  if (!n.hold || p == by_old_.end() || !user.was || goes(user) || user.stands.empty()) return false;
  bool comes_back = items_[p->second].want != nullptr && !replaced_.count(items_[p->second].component);
  bool same_link = std::none_of(user.unlink.begin(), user.unlink.end(), [&](auto& m) { return m.port == n.port; });
  auto& rest = user.kind.rest;
  return comes_back && same_link && std::all_of(user.stands.begin(), user.stands.end(), [&](Symbol place) {
           return std::find(rest.begin(), rest.end(), place) != rest.end();
         });
}

void Planner::rest_no_longer() {
  for (Item& item : items_)
    std::erase_if(item.resting, [&](Symbol port) { return lets_go(item, item.type->find_port(port)); });
}

void Planner::follow_what_is_made_anew() {
  auto made_anew = [&](const Item& item) {
    return item.was && item.want && !item.kind.rest.empty() &&
           visits(item, item.at, item.word(), item.type->find_place(item.kind.removed));
  };
  for (std::size_t i = 0; i < existing_; ++i) {
    Item& item = items_[i];
    if (made_anew(item) && item.want->protect && item.was->protect)
      session_.diagnostics
          .error("PLAN-PROTECTED", item.want->at,
                 fmt::format("`{}` is protected and would have to be removed and made again{}", item.component,
                             item.change && !item.change->why.empty() ? ": " + item.change->why : ""))
          .suggest("keep it, or first apply it once without `protect`");
    if (!item.want || item.busy() || !item.was->failed.empty()) continue;
    for (auto& n : item.new_needs) {
      auto p = by_new_.find(std::string(n.provider.text()));
      u32 use = item.type->find_port(n.port);
      if (!n.hold || p == by_new_.end() || use == model::kNone || active(*item.type, item.at, use)) continue;
      bool replaced = !items_[p->second].was && replaced_.count(items_[p->second].component);
      if (item.at != Marking{item.type->find_place(item.goal)} || !(replaced || made_anew(items_[p->second]))) continue;
      auto down = path(item, item.at, item.kind.removed);
      if (!down) return;
      auto back = path(item, run_word(*item.type, item.at, *down), item.goal);
      if (!back) return;
      item.first = *down;
      item.second = *back;
      item.change = change_of(PlanChange::Kind::kChange, item.component, *item.want, *item.was);
      item.change->why = fmt::format("it was done with {}, which is {}", items_[p->second].component,
                                     replaced ? "replaced" : "made anew");
      break;
    }
  }
}

void Planner::propagate() {
  bool again = true;
  std::size_t rounds = 0;
  while (again && ++rounds <= items_.size() + 1) {
    again = false;
    for (std::size_t u = 0; u < existing_; ++u) {
      Item& user = items_[u];
      std::vector<u32> ports;
      std::string whose;
      for (auto& n : user.old_needs) {
        if (!n.hold) continue;
        u32 use = user.type->find_port(n.port);
        auto p = by_old_.find(std::string(n.provider.text()));
        if (use == model::kNone || p == by_old_.end() || !active(*user.type, user.at, use)) continue;
        const Item& provider = items_[p->second];
        u32 provide = provider.type->find_port(n.provide);
        if (provide == model::kNone || !provider.busy()) continue;
        bool gone = !active(*provider.type, provider.at, provide);  // found not to run
        if (!gone && !drops(*provider.type, provider.at, provider.word(), provide)) continue;
        if (lets_go(user, use)) continue;
        if (can_rest(user, n)) {
          user.resting.insert(n.port);
          continue;
        }
        ports.push_back(use);
        whose = provider.component;
      }
      if (ports.empty()) continue;
      auto out = word_to(*user.type, user.at, [&](const Marking& m) {
        return std::none_of(ports.begin(), ports.end(), [&](u32 q) { return active(*user.type, m, q); });
      });
      if (!out) {
        session_.diagnostics.error("PLAN-STUCK", user.want ? user.want->at : Pos{},
                                   fmt::format("`{}` can never let go of `{}`", user.component, whose));
        return;
      }
      user.linked_first = false;
      user.first = *out;
      user.second.clear();
      if (auto back = path(user, run_word(*user.type, user.at, *out), user.goal)) user.second = *back;
      if (!user.change) {
        PlanChange c;
        c.kind = PlanChange::Kind::kInterrupt;
        c.component = user.component;
        c.type = user.was->type;
        c.host = user.was->host;
        c.why = fmt::format("it uses {}, which is interrupted", whose);
        user.change = std::move(c);
      }
      again = true;
    }
  }
  rest_no_longer();
  follow_what_is_made_anew();
}

void Planner::count_from_return() {
  for (std::size_t i = 0; i < existing_; ++i) {
    Item& item = items_[i];
    if (!item.want || item.first.empty() || item.linked_first) continue;
    Marking down = run_word(*item.type, item.at, item.first);
    bool gate = std::any_of(item.kind.gate.begin(), item.kind.gate.end(),
                            [&](Symbol g) { return visits(item, down, item.second, item.type->find_place(g)); });
    for (auto& n : item.link)
      if (gate && std::none_of(item.old_needs.begin(), item.old_needs.end(), [&](auto& m) { return m.port == n.port; }))
        item.gated.insert(n.port);
  }
}

std::optional<std::size_t> Planner::ordered_after(const Item& item, const model::Order& o) const {
  auto& by = item.want ? by_new_ : by_old_;
  auto it = by.find(std::string(o.provider.text()));
  if (it == by.end() || &items_[it->second] == &item) return std::nullopt;
  return it->second;
}

bool Planner::takes_turns(const Item& later, const Item& sooner) const {
  return std::find(turns_.begin(), turns_.end(), std::pair(index_of(sooner), index_of(later))) != turns_.end();
}

void Planner::count_orders() {
  for (Item& item : items_) {
    if (!item.busy()) continue;
    std::vector<model::Order> todo = all_orders(item);
    std::set<std::size_t> seen;
    while (!todo.empty()) {
      model::Order o = todo.front();
      todo.erase(todo.begin());
      auto p = ordered_after(item, o);
      u32 place = item.type->find_place(o.place);
      if (!p || place == model::kNone || !visits(item, item.at, item.word(), place)) continue;
      // One that stays as it is passes on whom it comes after.
      if (!items_[*p].busy()) {
        if (seen.insert(*p).second)
          for (auto& further : all_orders(items_[*p]))
            if (further.place == o.place) todo.push_back(further);
        continue;
      }
      Item& other = items_[*p];
      u32 port = other.type->find_port(o.provide);
      if (port == model::kNone) continue;
      bool now = active(*other.type, other.at, port);
      bool then = active(*other.type, run_word(*other.type, other.at, other.word()), port);
      if (!now && then)
        item.orders.push_back(o);
      else if (now && then && item.was && other.was && drops(*other.type, other.at, other.word(), port) &&
               !takes_turns(other, item))
        turns_.push_back({*p, index_of(item)});
    }
  }
}

bool Planner::lets_go(const Item& item, u32 port) const {
  Marking m = item.at;
  for (u32 b : item.word()) {
    m = pass(*item.type, m, b).end;
    if (!active(*item.type, m, port)) return true;
  }
  return false;
}

bool Planner::interrupted(const Item& item) const {
  if (!item.was || !item.busy()) return false;
  for (u32 q = item.type->uses; q < item.type->ports.size(); ++q)
    if (active(*item.type, item.at, q) && drops(*item.type, item.at, item.word(), q)) return true;
  return item.at != run_word(*item.type, item.at, item.word());
}

}  // namespace tutti::engine
