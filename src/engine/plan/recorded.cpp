#include "engine/plan/recorded.h"

#include <algorithm>

namespace tutti::engine {
namespace {

std::string text(const Value& map, std::string_view key) {
  const Entry* e = map.find(key);
  return e && e->value.is(Kind::kString) ? std::string(e->value.text()) : "";
}

bool truth(const Value& map, std::string_view key) {
  const Entry* e = map.find(key);
  return e && e->value.is(Kind::kBool) && e->value.as_bool();
}

Value value(const Value& map, std::string_view key) {
  const Entry* e = map.find(key);
  return e ? e->value : Value::null();
}

std::span<const Value> list(const Value& map, std::string_view key) {
  const Entry* e = map.find(key);
  return e && e->value.is(Kind::kList) ? e->value.items() : std::span<const Value>{};
}

std::span<const Entry> entries(const Value& map, std::string_view key) {
  const Entry* e = map.find(key);
  return e && e->value.is(Kind::kMap) ? e->value.entries() : std::span<const Entry>{};
}

model::Need read_recorded_need(const Value& need) {
  const Entry* hold = need.find("hold");
  return {Symbol(text(need, "port")),
          Symbol(text(need, "provider")),
          Symbol(text(need, "provide")),
          !hold || hold->value.as_bool(),
          {}};
}

Value write_recorded_need(const model::Need& n, const TreeBuilder& b) {
  std::vector<Entry> one{{Symbol("port"), Field::kPlain, Value::string(n.port.text())},
                         {Symbol("provider"), Field::kPlain, Value::string(n.provider.text())},
                         {Symbol("provide"), Field::kPlain, Value::string(n.provide.text())},
                         {Symbol("hold"), Field::kPlain, Value::boolean(n.hold)}};
  return b.map(one);
}

void read_outputs(const Value& component, RecordedComponent& c) {
  for (const Entry& one : entries(component, "outputs")) {
    if (!one.value.is(Kind::kString)) continue;
    c.outputs[std::string(one.key.text())] = one.value.text();
    if (one.value.secret()) c.secret.insert(std::string(one.key.text()));
  }
}

RecordedComponent read_component(std::string_view name, const Value& v) {
  RecordedComponent c;
  c.name = name;
  c.instance = text(v, "instance");
  for (const Value& earlier : list(v, "former")) c.former.emplace_back(earlier.text());
  c.type = text(v, "type");
  c.host = Symbol(text(v, "host"));
  c.failed = text(v, "failed");
  if (Value g = value(v, "generation"); g.fits_i64()) c.generation = static_cast<u32>(g.as_i64());
  for (const Value& element : list(v, "places")) c.marking.push_back(Symbol(element.text()));
  c.config = value(v, "config");
  c.tried = value(v, "tried");
  c.made = value(v, "made");
  c.reads = value(v, "reads");
  c.before = value(v, "before");
  c.touched = value(v, "touched");
  c.formerly = value(v, "formerly");
  c.stray = value(v, "stray");
  c.protect = truth(v, "protect");
  c.untouched = truth(v, "untouched");
  c.found = truth(v, "found");
  c.forgotten = truth(v, "forgotten");
  for (const Value& need : list(v, "needs")) c.needs.push_back(read_recorded_need(need));
  c.orders = read_orders(value(v, "orders"));
  read_outputs(v, c);
  for (const Value& one : list(v, "held")) c.held.push_back(one);
  return c;
}

Value write_component(const RecordedComponent& c, const TreeBuilder& b) {
  MapDraft m;
  auto optional = [&](std::string_view key, const Value& v) {
    if (!v.is(Kind::kNull)) m.set(Symbol(key), v);
  };
  auto flag = [&](std::string_view key, bool is) {
    if (is) m.set(Symbol(key), Value::boolean(true));
  };
  std::vector<Value> former, marking, needs;
  for (auto& earlier : c.former) former.push_back(b.string(earlier));
  for (Symbol e : c.marking) marking.push_back(Value::string(e.text()));
  for (auto& n : c.needs) needs.push_back(write_recorded_need(n, b));
  m.set(Symbol("type"), b.string(c.type));
  m.set(Symbol("instance"), b.string(c.instance));
  m.set(Symbol("generation"), Value::integer(c.generation));
  if (!former.empty()) m.set(Symbol("former"), b.list(former));
  m.set(Symbol("host"), Value::string(c.host.text()));
  m.set(Symbol("places"), b.list(marking));
  if (!c.failed.empty()) m.set(Symbol("failed"), b.string(c.failed));
  m.set(Symbol("config"), c.config);
  optional("tried", c.tried);
  optional("made", c.made);
  optional("reads", c.reads);
  optional("before", c.before);
  optional("touched", c.touched);
  optional("formerly", c.formerly);
  optional("stray", c.stray);
  flag("protect", c.protect);
  flag("untouched", c.untouched);
  flag("found", c.found);
  flag("forgotten", c.forgotten);
  m.set(Symbol("needs"), b.list(needs));
  if (!c.orders.empty()) m.set(Symbol("orders"), write_orders(c.orders, b));
  std::vector<Entry> outputs;
  for (auto& [k, v] : c.outputs)
    outputs.push_back({Symbol(k), Field::kPlain, c.secret.count(k) ? b.string(v).as_secret() : b.string(v)});
  if (!outputs.empty()) m.set(Symbol("outputs"), b.map(outputs));
  if (!c.held.empty()) m.set(Symbol("held"), b.list(c.held));
  return m.build(b);
}

}  // namespace

std::string instance_name(const std::string& component, u32 generation) {
  return generation == 1 ? component : component + "#" + std::to_string(generation);
}

std::map<std::string_view, const RecordedComponent*> Recorded::by_instance() const {
  std::map<std::string_view, const RecordedComponent*> all;
  for (auto& [name, c] : components) all.emplace(c.instance, &c);
  return all;
}

Value write_orders(const std::vector<model::Order>& orders, const TreeBuilder& b) {
  std::vector<Value> list;
  for (auto& o : orders) {
    std::vector<Entry> one{{Symbol("place"), Field::kPlain, Value::string(o.place.text())},
                           {Symbol("provider"), Field::kPlain, Value::string(o.provider.text())},
                           {Symbol("provide"), Field::kPlain, Value::string(o.provide.text())}};
    list.push_back(b.map(one));
  }
  return b.list(list);
}

std::vector<model::Order> read_orders(const Value& list) {
  std::vector<model::Order> out;
  if (list.is(Kind::kList))
    for (const Value& one : list.items())
      out.push_back({Symbol(text(one, "place")), Symbol(text(one, "provider")), Symbol(text(one, "provide")), {}});
  return out;
}

bool Recorded::catalog() const {
  return std::any_of(components.begin(), components.end(), [](auto& c) { return c.second.type == "resource"; });
}

void Recorded::add(RecordedComponent component) {
  order.push_back(component.name);
  components.emplace(component.name, std::move(component));
}

void Recorded::remove(const std::string& component) {
  components.erase(component);
  std::erase(order, component);
}

void Recorded::forget_unused_kinds() {
  std::set<std::string> used;
  for (auto& [name, c] : components) used.insert(c.type);
  std::erase_if(kinds, [&](auto& k) { return !used.count(k.first); });
}

Recorded read_recorded(const Value& state) {
  Recorded out;
  if (!state.is(Kind::kMap)) return out;
  out.program = truth(state, "program");
  if (Value hosts = value(state, "hosts"); hosts.is(Kind::kMap)) out.hosts = hosts;
  for (const Entry& e : entries(state, "types")) out.kinds[std::string(e.key.text())] = e.value;
  for (const Entry& e : entries(state, "components")) out.add(read_component(e.key.text(), e.value));
  return out;
}

Value write_recorded(const Recorded& r, const TreeBuilder& b) {
  std::vector<Entry> components, kinds;
  for (const std::string& name : r.order)
    if (auto it = r.components.find(name); it != r.components.end())
      components.push_back({Symbol(name), Field::kPlain, write_component(it->second, b)});
  for (auto& [name, tree] : r.kinds) kinds.push_back({Symbol(name), Field::kPlain, tree});
  std::vector<Entry> root{{Symbol("format"), Field::kPlain, Value::integer(kRecordedFormat)},
                          {Symbol("components"), Field::kPlain, b.map(components)},
                          {Symbol("types"), Field::kPlain, b.map(kinds)}};
  if (r.program) root.push_back({Symbol("program"), Field::kPlain, Value::boolean(true)});
  if (r.hosts.is(Kind::kMap)) root.push_back({Symbol("hosts"), Field::kPlain, r.hosts});
  return b.map(root);
}

}  // namespace tutti::engine
