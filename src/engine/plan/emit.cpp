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

Value Planner::flat() {
  std::vector<Value> instances, links, invariants;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    MapDraft m;
    m.set(Symbol("name"), builder_.string(item.instance));
    m.set(Symbol("component"), builder_.string(item.component));
    m.set(Symbol("type"), builder_.string(item.type_name));
    m.set(Symbol("kind"), Value::string(item.kind.name.text()));
    m.set(Symbol("host"), Value::string((item.want ? item.want->host : item.was->host).text()));
    m.set(Symbol("present"), Value::boolean(item.was != nullptr));
    m.set(Symbol("stays"), Value::boolean(item.want != nullptr || kept_.count(i)));
    m.set(Symbol("generation"), Value::integer(item.generation));
    if (item.was && !item.was->former.empty()) {
      std::vector<Value> former;
      for (auto& name : item.was->former) former.push_back(builder_.string(name));
      m.set(Symbol("former"), builder_.list(former));
    }
    std::vector<Value> places, needs;
    for (u32 e : item.at) places.push_back(builder_.string(item.type->element_name(e)));
    m.set(Symbol("places"), builder_.list(places));
    m.set(Symbol("config"), item.want ? item.want->config : item.was->config);
    if (item.was && !item.was->tried.is(Kind::kNull) && !equal(item.was->tried, item.was->config))
      m.set(Symbol("tried"), item.was->tried);
    if (item.was || to_be_cleared(item)) m.set(Symbol("old"), item.was ? item.was->config : item.want->config);
    if (item.was && !item.was->made.is(Kind::kNull)) m.set(Symbol("made"), item.was->made);
    if (item.was && !item.was->before.is(Kind::kNull) && (!item.want || item.goal == item.kind.goal))
      m.set(Symbol("keep"), item.was->before);
    bool asked_away = item.want && item.goal == item.kind.removed && item.goal != item.kind.goal;
    if (item.was && !item.was->formerly.is(Kind::kNull) && !asked_away) {
      m.set(Symbol("formerly"), item.was->formerly);
      m.set(Symbol("held"), builder_.list(item.was->held));  // by which it is seen whether it still is as it was left
    }
    if (item.was && !item.was->stray.is(Kind::kNull)) m.set(Symbol("stray"), item.was->stray);
    if (item.was && !item.was->failed.empty() && !item.was->untouched) m.set(Symbol("half_made"), Value::boolean(true));
    if (item.want ? item.want->protect : item.was->protect) m.set(Symbol("protect"), Value::boolean(true));
    bool going = item.was && !item.want;
    for (auto& n : going ? item.old_needs : item.new_needs) {
      auto& by = going ? by_old_ : by_new_;
      auto p = by.find(std::string(n.provider.text()));
      std::vector<Entry> one{{Symbol("port"), Field::kPlain, Value::string(n.port.text())},
                             {Symbol("provider"), Field::kPlain, Value::string(n.provider.text())},
                             {Symbol("provide"), Field::kPlain, Value::string(n.provide.text())},
                             {Symbol("hold"), Field::kPlain, Value::boolean(n.hold)},
                             {Symbol("instance"), Field::kPlain, p == by.end() ? Value::null() : number(p->second)}};
      needs.push_back(builder_.map(one));
    }
    m.set(Symbol("needs"), builder_.list(needs));
    if (auto& orders = all_orders(item); !orders.empty()) m.set(Symbol("orders"), write_orders(orders, builder_));
    instances.push_back(m.build(builder_));
    if (item.was)
      for (auto& n : item.old_needs) {
        auto p = by_old_.find(std::string(n.provider.text()));
        if (p == by_old_.end()) continue;
        links.push_back(builder_.list(
            std::vector<Value>{number(i), word(n.port.text()), number(p->second), word(n.provide.text())}));
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
  // The whole types, for the state that the run will leave.
  std::map<std::string, Value> kinds;
  for (auto& item : items_)
    if ((item.want || kept_.count(index_of(item))) && (!item.was || !item.was->forgotten))
      kinds[std::string(item.kind.name.text())] = item.kind.tree;
  std::vector<Entry> kind_entries;
  for (auto& [name, tree] : kinds) kind_entries.push_back({Symbol(name), Field::kPlain, tree});
  std::vector<Entry> hosts;
  for (auto& [name, v] : wanted_.hosts) hosts.push_back({Symbol(name), Field::kPlain, v});
  std::vector<Entry> root{{Symbol("types"), Field::kPlain, types_tree_},
                          {Symbol("instances"), Field::kPlain, builder_.list(instances)},
                          {Symbol("links"), Field::kPlain, builder_.list(links)},
                          {Symbol("program"), Field::kPlain, builder_.list(program_)},
                          {Symbol("changes"), Field::kPlain, number(plan_.changes.size())},
                          {Symbol("kinds"), Field::kPlain, builder_.map(kind_entries)},
                          {Symbol("hosts"), Field::kPlain, builder_.map(hosts)},
                          {Symbol("invariants"), Field::kPlain, builder_.list(invariants)}};
  std::vector<Value> only;
  for (auto& name : options_.only) only.push_back(builder_.string(name));
  if (!only.empty()) root.push_back({Symbol("only"), Field::kPlain, builder_.list(only)});
  std::vector<Entry> renames;
  for (auto& [name, was] : options_.renames) renames.push_back({Symbol(name), Field::kPlain, builder_.string(was)});
  if (!renames.empty()) root.push_back({Symbol("renames"), Field::kPlain, builder_.map(renames)});
  return builder_.map(root);
}

}  // namespace tutti::engine
