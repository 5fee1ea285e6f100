// A deployment as trees again: the whole of it, and its types as the engine wants them.
#include <fmt/format.h>

#include <algorithm>

#include "model/deployment.h"
#include "model/reader.h"

namespace tutti::model {

Value plain_tree(const Deployment& d, const Value& root, const TreeBuilder& b) {
  MapDraft m;
  m.set(Symbol("system"), b.string(d.name));
  for (std::string_view key : {"types", "hosts", "invariants"})
    if (const Entry* e = root.find(key)) m.set(e->key, e->value);
  std::vector<Entry> components;
  for (auto& c : d.components) {
    MapDraft one;
    one.set(Symbol("type"), Value::string(c.type.text()));
    one.set(Symbol("host"), Value::string(c.host.empty() ? "here" : c.host.text()));
    one.set(Symbol("state"), Value::string(c.state.text()));
    one.set(Symbol("config"), c.config);
    if (c.protect) one.set(Symbol("protect"), Value::boolean(true));
    if (!c.was.empty()) one.set(Symbol("was"), b.string(c.was));
    std::vector<Entry> uses;
    std::vector<Value> after;
    for (auto& n : c.needs) {
      if (n.implied) continue;
      Value what = b.string(std::string(n.provider.text()) + "." + std::string(n.provide.text()));
      if (n.hold)
        uses.push_back({n.port, Field::kPlain, what});
      else
        after.push_back(what);
    }
    if (!uses.empty()) one.set(Symbol("uses"), b.map(uses));
    if (!after.empty()) one.set(Symbol("after"), b.list(after));
    std::vector<Value> orders;
    for (auto& o : c.orders) {
      std::vector<Entry> order{{Symbol("at"), Field::kPlain, Value::string(o.place.text())},
                               {Symbol("after"), Field::kPlain,
                                b.string(std::string(o.provider.text()) + "." + std::string(o.provide.text()))}};
      orders.push_back(b.map(order));
    }
    if (!orders.empty()) one.set(Symbol("order"), b.list(orders));
    components.push_back({c.name, Field::kPlain, one.build(b)});
  }
  m.set(Symbol("components"), b.map(components));
  return m.build(b);
}

std::string engine_type_name(const ComponentKind& kind, const std::vector<Need>& needs,
                             const std::vector<Order>& orders) {
  std::string name(kind.name.text());
  for (auto& n : needs) name += (n.hold ? "+" : ">") + std::string(n.port.text());
  for (auto& o : orders) name += "@" + std::string(o.place.text());
  return name;
}

constexpr std::string_view kOrderPort = "order ";
Symbol order_port(std::size_t number) { return Symbol(fmt::format("{}{}", kOrderPort, number)); }
bool is_order_port(Symbol port) { return port.text().starts_with(kOrderPort); }

Value engine_type(const ComponentKind& kind, const std::vector<Need>& needs, const std::vector<Order>& orders,
                  const TreeBuilder& builder) {
  static constexpr std::string_view kKept[] = {"places",     "initial", "stations", "transitions", "behaviors",
                                               "behaviours", "groups",  "provide",  "provides"};
  MapDraft draft;
  for (std::string_view key : kKept)
    if (const Entry* e = kind.tree.find(key)) draft.set(e->key, e->value);
  std::vector<Entry> ports;
  auto list = [&](const std::vector<Symbol>& places) {
    std::vector<Value> items;
    for (Symbol p : places) items.push_back(Value::string(p.text(), Origin(kind.at)));
    return builder.list(items, Origin(kind.at));
  };
  if (const Value* own = Reader::find(kind.tree, {"use", "uses"}); own && own->is(Kind::kMap))
    for (const Entry& e : own->entries())
      if (std::any_of(needs.begin(), needs.end(), [&](auto& n) { return n.port == e.key; })) ports.push_back(e);
  for (auto& n : needs)
    if (std::none_of(ports.begin(), ports.end(), [&](auto& e) { return e.key == n.port; }))
      ports.push_back({n.port, Field::kPlain, list(n.hold ? kind.hold : kind.gate)});
  for (std::size_t i = 0; i < orders.size(); ++i)
    ports.push_back({order_port(i + 1), Field::kPlain, list({orders[i].place})});
  if (!ports.empty()) draft.set(Symbol("use"), builder.map(ports, Origin(kind.at)));
  return draft.build(builder, Origin(kind.at));
}

}  // namespace tutti::model
