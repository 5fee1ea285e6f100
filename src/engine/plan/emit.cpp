#include <functional>

#include "engine/plan/planner.h"

namespace tutti::engine {
namespace {

Value word(std::string_view w) { return Value::string(w); }

}  // namespace

void Planner::instruction(std::initializer_list<Value> words) {
  program_.push_back(builder_.list(std::vector<Value>(words)));
}

void Planner::push(std::size_t i, const std::vector<u32>& behaviours) {
  for (u32 b : behaviours) {
    Symbol name = items_[i].type->behaviours[b].name;
    instruction({word("push"), number(i), word(name.text())});
    if (items_[i].change) items_[i].change->behaviours.emplace_back(name.text());
    pending_.insert(i);
  }
}

void Planner::connect(std::size_t i, const Need& n) {
  auto p = by_new_.find(std::string(n.provider.text()));
  if (p == by_new_.end()) return;
  instruction({word("con"), number(i), word(n.port.text()), number(p->second), word(n.provide.text())});
}

void Planner::disconnect(std::size_t i, const Need& n) {
  auto p = by_old_.find(std::string(n.provider.text()));
  if (p == by_old_.end()) return;
  instruction({word("dcon"), number(i), word(n.port.text()), number(p->second), word(n.provide.text())});
}

void Planner::link_orders(std::size_t i, std::string_view op) {
  for (std::size_t k = 0; k < items_[i].orders.size(); ++k) {
    const model::Order& o = items_[i].orders[k];
    instruction({word(op), number(i), word(model::order_port(k + 1).text()), number(*ordered_after(items_[i], o)),
                 word(o.provide.text())});
  }
}

std::vector<std::size_t> Planner::providers_first() const {
  std::vector<std::size_t> order;
  std::vector<u8> state(items_.size(), 0);
  std::function<void(std::size_t)> visit = [&](std::size_t i) {
    if (state[i]) return;
    state[i] = 1;
    for (auto* needs : {&items_[i].old_needs, &items_[i].new_needs})
      for (auto& n : *needs)
        for (auto* by : {&by_old_, &by_new_})
          if (auto it = by->find(std::string(n.provider.text())); it != by->end()) visit(it->second);
    order.push_back(i);
  };
  for (std::size_t i = 0; i < items_.size(); ++i) visit(i);
  return order;
}

std::size_t Planner::made_ready(const Item& item) const {
  if (!item.was || !item.want || item.half_way()) return 0;
  Marking m = item.at;
  for (std::size_t n = 0; n < item.first.size(); ++n) {
    for (u32 port = item.type->uses; port < item.type->ports.size(); ++port)
      if (active(*item.type, item.at, port) && drops(*item.type, m, {item.first[n]}, port)) return n;
    m = pass(*item.type, m, item.first[n]).end;
  }
  return 0;
}

void Planner::emit() {
  auto order = providers_first();
  std::vector<std::size_t> shown, ready;
  for (std::size_t i = existing_; i < items_.size(); ++i) instruction({word("add"), number(i)});
  for (std::size_t i = existing_; i < items_.size(); ++i)
    for (auto& n : items_[i].link) connect(i, n);
  for (std::size_t i = 0; i < items_.size(); ++i) link_orders(i, "con");
  for (std::size_t i : order)
    if (std::size_t n = made_ready(items_[i]); n > 0) {
      auto& first = items_[i].first;
      auto end = first.begin() + static_cast<std::ptrdiff_t>(n);
      push(i, {first.begin(), end});
      first.erase(first.begin(), end);
      ready.push_back(i);
    }
  for (std::size_t i : ready) instruction({word("wait"), number(i)});
  for (u32 turn = 0; turn < moments_->turns(); ++turn) {
    auto now = [&](Moments::Moment m) { return moments_->turn(m) == turn; };
    for (std::size_t i : order)
      for (auto m : {Moments::down(i), Moments::up(i)}) {
        if (!now(m)) continue;
        for (std::size_t w : moments_->waits(m))
          if (pending_.erase(w)) instruction({word("wait"), number(w)});
      }
    for (std::size_t i : order)
      if (items_[i].linked_first && now(Moments::down(i))) {
        for (auto& n : items_[i].unlink) disconnect(i, n);
        for (auto& n : items_[i].link) connect(i, n);
      }
    for (std::size_t i : order)
      if (now(Moments::down(i))) {
        push(i, items_[i].first);
        shown.push_back(i);
      }
    for (std::size_t i : order) {
      Item& item = items_[i];
      if (!item.was || !item.want || item.linked_first) continue;
      if (now(Moments::down(i)))
        for (auto& n : item.unlink) disconnect(i, n);
      if (now(Moments::up(i)))
        for (auto& n : item.link) connect(i, n);
    }
    for (std::size_t i : order)
      if (now(Moments::up(i))) push(i, items_[i].second);
  }
  std::vector<std::size_t> going;
  for (std::size_t i : order)
    if (items_[i].was && !items_[i].want && !kept_.count(i)) going.push_back(i);
  for (std::size_t i : going)
    if (!items_[i].orders.empty()) instruction({word("wait"), number(i)});
  for (std::size_t i : going) {
    link_orders(i, "dcon");
    for (auto& n : items_[i].unlink) disconnect(i, n);
  }
  for (auto it = going.rbegin(); it != going.rend(); ++it) {
    instruction({word("wait"), number(*it)});
    instruction({word("del"), number(*it)});
  }
  instruction({word("wait_all")});
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (items_[i].want) link_orders(i, "dcon");
  for (std::size_t i : shown) {
    Item& item = items_[i];
    if (auto old = options_.renames.find(item.component); old != options_.renames.end() && item.want) {
      if (!item.change) item.change = change_of(PlanChange::Kind::kRename, item.component, *item.want, *item.was);
      item.change->was = old->second;
    }
    if (item.change) plan_.changes.push_back(*item.change);
  }
  for (auto& item : items_)
    if (item.was && item.want && !item.change) ++plan_.unchanged;
  plan_.unchanged += static_cast<u32>(kept_.size());
  plan_.flat = flat();
}

PlannedInstance Planner::planned(std::size_t i) const {
  const Item& item = items_[i];
  PlannedInstance p;
  p.name = item.instance;
  p.component = item.component;
  p.type = item.type_name;
  p.kind = item.kind.name.text();
  p.host = item.want ? item.want->host : item.was->host;
  p.present = item.was != nullptr;
  p.stays = item.want != nullptr || kept_.count(i);
  p.generation = item.generation;
  p.protect = item.want ? item.want->protect : item.was->protect;
  for (u32 e : item.at) p.marking.push_back(Symbol(item.type->element_name(e)));
  p.config = item.want ? item.want->config : item.was->config;
  if (to_be_cleared(item)) p.old = item.want->config;
  if (item.was) add_what_is_there(item, p);
  bool going = item.was && !item.want;
  auto& by = going ? by_old_ : by_new_;
  for (auto& n : going ? item.old_needs : item.new_needs) {
    auto provider = by.find(std::string(n.provider.text()));
    p.needs.push_back({n.port, n.provider, n.provide, n.hold,
                       provider == by.end() ? model::kNone : static_cast<u32>(provider->second)});
  }
  p.orders = all_orders(item);
  return p;
}

void Planner::add_what_is_there(const Item& item, PlannedInstance& p) const {
  const RecordedComponent& was = *item.was;
  p.former = was.former;
  p.old = was.config;
  if (!equal(was.tried, was.config)) p.tried = was.tried;
  p.made = was.made;
  if (!item.want || item.goal == item.kind.goal) p.keep = was.before;
  bool asked_away = item.want && item.goal == item.kind.removed && item.goal != item.kind.goal;
  if (!was.formerly.is(Kind::kNull) && !asked_away) {
    p.formerly = was.formerly;
    p.held = builder_.list(was.held);
  }
  p.stray = was.stray;
  p.half_made = !was.failed.empty() && !was.untouched;
}

Value Planner::flat() {
  std::vector<Value> instances, links, invariants;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    instances.push_back(write_planned(planned(i), builder_));
    if (!items_[i].was) continue;
    for (auto& n : items_[i].old_needs) {
      auto p = by_old_.find(std::string(n.provider.text()));
      if (p == by_old_.end()) continue;
      links.push_back(
          builder_.list(std::vector<Value>{number(i), word(n.port.text()), number(p->second), word(n.provide.text())}));
    }
  }
  for (auto& inv : invariants_) {
    std::vector<Value> of;
    for (Symbol s : inv.of) of.push_back(Value::string(s.text()));
    std::vector<Entry> one{
        {Symbol("at_least"), Field::kPlain, Value::boolean(inv.kind == model::Invariant::Kind::kAtLeast)},
        {Symbol("count"), Field::kPlain, Value::integer(inv.count)},
        {Symbol("port"), Field::kPlain, Value::string(inv.port.text())},
        {Symbol("of"), Field::kPlain, builder_.list(of)}};
    if (auto why = cannot_.find(&inv); why != cannot_.end())
      one.push_back({Symbol("cannot"), Field::kPlain, builder_.string(why->second)});
    invariants.push_back(builder_.map(one));
  }
  std::map<std::string, Value> kinds;
  for (auto& item : items_)
    if ((item.want || kept_.count(index_of(item))) && (!item.was || !item.was->forgotten))
      kinds[std::string(item.kind.name.text())] = item.kind.tree;
  std::vector<Entry> kind_entries, hosts;
  for (auto& [name, tree] : kinds) kind_entries.push_back({Symbol(name), Field::kPlain, tree});
  for (auto& [name, v] : wanted_.hosts) hosts.push_back({Symbol(name), Field::kPlain, v});
  std::vector<Entry> root{{Symbol("types"), Field::kPlain, types_tree_},
                          {Symbol("instances"), Field::kPlain, builder_.list(instances)},
                          {Symbol("links"), Field::kPlain, builder_.list(links)},
                          {Symbol("program"), Field::kPlain, builder_.list(program_)}};
  PlanHead head;
  head.changes = static_cast<i64>(plan_.changes.size());
  head.kinds = builder_.map(kind_entries);
  head.hosts = builder_.map(hosts);
  head.invariants = builder_.list(invariants);
  head.only = options_.only;
  head.renames = options_.renames;
  write_head(head, builder_, root);
  return builder_.map(root);
}

}  // namespace tutti::engine
