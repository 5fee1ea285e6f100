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

Recorded read_recorded(Session&, const Value& state) {
  Recorded out;
  out.program = truth(state, "program");
  const Entry* kinds = state.find("types");
  if (kinds && kinds->value.is(Kind::kMap))
    for (const Entry& e : kinds->value.entries()) out.kinds[std::string(e.key.text())] = e.value;
  const Entry* components = state.find("components");
  if (!components || !components->value.is(Kind::kMap)) return out;
  for (const Entry& e : components->value.entries()) {
    const Value& v = e.value;
    RecordedComponent c;
    c.name = e.key.text();
    c.instance = text(v, "instance");
    if (const Entry* f = v.find("former"); f && f->value.is(Kind::kList))
      for (const Value& name : f->value.items()) c.former.emplace_back(name.text());
    c.type = text(v, "type");
    c.host = Symbol(text(v, "host"));
    c.failed = text(v, "failed");
    if (const Entry* g = v.find("generation"); g && g->value.fits_i64())
      c.generation = static_cast<u32>(g->value.as_i64());
    if (const Entry* p = v.find("places"); p && p->value.is(Kind::kList))
      for (const Value& element : p->value.items()) c.marking.push_back(Symbol(element.text()));
    if (const Entry* x = v.find("config")) c.config = x->value;
    if (const Entry* x = v.find("tried")) c.tried = x->value;
    if (const Entry* x = v.find("made")) c.made = x->value;
    if (const Entry* x = v.find("reads")) c.reads = x->value;
    if (const Entry* x = v.find("before")) c.before = x->value;
    if (const Entry* x = v.find("touched")) c.touched = x->value;
    if (const Entry* x = v.find("formerly")) c.formerly = x->value;
    if (const Entry* x = v.find("stray")) c.stray = x->value;
    c.protect = truth(v, "protect");
    c.untouched = truth(v, "untouched");
    c.found = truth(v, "found");
    c.forgotten = truth(v, "forgotten");
    if (const Entry* n = v.find("needs"); n && n->value.is(Kind::kList))
      for (const Value& need : n->value.items()) {
        const Entry* hold = need.find("hold");
        c.needs.push_back({Symbol(text(need, "port")),
                           Symbol(text(need, "provider")),
                           Symbol(text(need, "provide")),
                           !hold || hold->value.as_bool(),
                           {}});
      }
    if (const Entry* o = v.find("orders")) c.orders = read_orders(o->value);
    if (const Entry* o = v.find("outputs"); o && o->value.is(Kind::kMap))
      for (const Entry& one : o->value.entries())
        if (one.value.is(Kind::kString)) {
          c.outputs[std::string(one.key.text())] = one.value.text();
          if (one.value.secret()) c.secret.insert(std::string(one.key.text()));
        }
    if (const Entry* h = v.find("held"); h && h->value.is(Kind::kList))
      for (const Value& one : h->value.items()) c.held.push_back(one);
    out.order.push_back(c.name);
    out.components.emplace(c.name, std::move(c));
  }
  return out;
}

Value write_recorded(const Recorded& r, const TreeBuilder& b) {
  std::vector<Entry> components, kinds;
  for (const std::string& name : r.order) {
    auto it = r.components.find(name);
    if (it == r.components.end()) continue;
    const RecordedComponent& c = it->second;
    MapDraft m;
    m.set(Symbol("type"), b.string(c.type));
    m.set(Symbol("instance"), b.string(c.instance));
    m.set(Symbol("generation"), Value::integer(c.generation));
    std::vector<Value> former;
    for (auto& earlier : c.former) former.push_back(b.string(earlier));
    if (!former.empty()) m.set(Symbol("former"), b.list(former));
    m.set(Symbol("host"), Value::string(c.host.text()));
    std::vector<Value> marking, needs;
    for (Symbol e : c.marking) marking.push_back(Value::string(e.text()));
    m.set(Symbol("places"), b.list(marking));
    if (!c.failed.empty()) m.set(Symbol("failed"), b.string(c.failed));
    m.set(Symbol("config"), c.config);
    if (!c.tried.is(Kind::kNull)) m.set(Symbol("tried"), c.tried);
    if (!c.made.is(Kind::kNull)) m.set(Symbol("made"), c.made);
    if (!c.reads.is(Kind::kNull)) m.set(Symbol("reads"), c.reads);
    if (!c.before.is(Kind::kNull)) m.set(Symbol("before"), c.before);
    if (!c.touched.is(Kind::kNull)) m.set(Symbol("touched"), c.touched);
    if (!c.formerly.is(Kind::kNull)) m.set(Symbol("formerly"), c.formerly);
    if (!c.stray.is(Kind::kNull)) m.set(Symbol("stray"), c.stray);
    if (c.protect) m.set(Symbol("protect"), Value::boolean(true));
    if (c.untouched) m.set(Symbol("untouched"), Value::boolean(true));
    if (c.found) m.set(Symbol("found"), Value::boolean(true));
    if (c.forgotten) m.set(Symbol("forgotten"), Value::boolean(true));
    for (auto& n : c.needs) {
      std::vector<Entry> one{{Symbol("port"), Field::kPlain, Value::string(n.port.text())},
                             {Symbol("provider"), Field::kPlain, Value::string(n.provider.text())},
                             {Symbol("provide"), Field::kPlain, Value::string(n.provide.text())},
                             {Symbol("hold"), Field::kPlain, Value::boolean(n.hold)}};
      needs.push_back(b.map(one));
    }
    m.set(Symbol("needs"), b.list(needs));
    if (!c.orders.empty()) m.set(Symbol("orders"), write_orders(c.orders, b));
    std::vector<Entry> outputs;
    for (auto& [k, v] : c.outputs)
      outputs.push_back({Symbol(k), Field::kPlain, c.secret.count(k) ? b.string(v).as_secret() : b.string(v)});
    if (!outputs.empty()) m.set(Symbol("outputs"), b.map(outputs));
    if (!c.held.empty()) m.set(Symbol("held"), b.list(c.held));
    components.push_back({Symbol(name), Field::kPlain, m.build(b)});
  }
  for (auto& [name, tree] : r.kinds) kinds.push_back({Symbol(name), Field::kPlain, tree});
  std::vector<Entry> root{{Symbol("format"), Field::kPlain, Value::integer(1)},
                          {Symbol("components"), Field::kPlain, b.map(components)},
                          {Symbol("types"), Field::kPlain, b.map(kinds)}};
  if (r.program) root.push_back({Symbol("program"), Field::kPlain, Value::boolean(true)});
  return b.map(root);
}

}  // namespace tutti::engine
