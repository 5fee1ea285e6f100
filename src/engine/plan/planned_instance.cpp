#include "engine/plan/planned_instance.h"

#include "engine/plan/recorded.h"

namespace tutti::engine {
namespace {

Value texts(const std::vector<std::string>& all, const TreeBuilder& b) {
  std::vector<Value> list;
  for (auto& text : all) list.push_back(b.string(text));
  return b.list(list);
}

Value names(const std::vector<Symbol>& all, const TreeBuilder& b) {
  std::vector<Value> list;
  for (Symbol name : all) list.push_back(Value::string(name.text()));
  return b.list(list);
}

Value write_need(const PlannedNeed& n, const TreeBuilder& b) {
  std::vector<Entry> one{
      {Symbol("port"), Field::kPlain, Value::string(n.port.text())},
      {Symbol("provider"), Field::kPlain, Value::string(n.provider.text())},
      {Symbol("provide"), Field::kPlain, Value::string(n.provide.text())},
      {Symbol("hold"), Field::kPlain, Value::boolean(n.hold)},
      {Symbol("instance"), Field::kPlain, n.instance == model::kNone ? Value::null() : Value::integer(n.instance)}};
  return b.map(one);
}

// Reads the entries of one map; what is absent or of another kind is the default.
class Fields {
 public:
  explicit Fields(const Value& map) : map_(map) {}

  Value value(std::string_view key) const {
    const Entry* e = map_.is(Kind::kMap) ? map_.find(key) : nullptr;
    return e ? e->value : Value::null();
  }
  Value of_kind(std::string_view key, Kind kind) const {
    Value v = value(key);
    return v.is(kind) ? v : Value::null();
  }
  std::string text(std::string_view key) const {
    Value v = value(key);
    return v.is(Kind::kString) ? std::string(v.text()) : "";
  }
  bool truth(std::string_view key, bool otherwise = false) const {
    Value v = value(key);
    return v.is(Kind::kBool) ? v.as_bool() : otherwise;
  }
  u32 number(std::string_view key, u32 otherwise) const {
    Value v = value(key);
    return v.fits_i64() && v.as_i64() >= 0 ? static_cast<u32>(v.as_i64()) : otherwise;
  }
  std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> out;
    if (Value v = of_kind(key, Kind::kList); !v.is(Kind::kNull))
      for (const Value& one : v.items())
        if (one.is(Kind::kString)) out.emplace_back(one.text());
    return out;
  }

 private:
  const Value& map_;
};

PlannedNeed read_need(const Value& entry) {
  Fields f(entry);
  return {Symbol(f.text("port")), Symbol(f.text("provider")), Symbol(f.text("provide")), f.truth("hold", true),
          f.number("instance", model::kNone)};
}

}  // namespace

Value write_planned(const PlannedInstance& p, const TreeBuilder& b) {
  MapDraft m;
  auto optional = [&](std::string_view key, const Value& v) {
    if (!v.is(Kind::kNull)) m.set(Symbol(key), v);
  };
  m.set(Symbol("name"), b.string(p.name));
  m.set(Symbol("component"), b.string(p.component));
  m.set(Symbol("type"), b.string(p.type));
  m.set(Symbol("kind"), b.string(p.kind));
  m.set(Symbol("host"), Value::string(p.host.text()));
  m.set(Symbol("present"), Value::boolean(p.present));
  m.set(Symbol("stays"), Value::boolean(p.stays));
  m.set(Symbol("generation"), Value::integer(p.generation));
  if (!p.former.empty()) m.set(Symbol("former"), texts(p.former, b));
  m.set(Symbol("places"), names(p.marking, b));
  m.set(Symbol("config"), p.config);
  optional("tried", p.tried);
  optional("old", p.old);
  optional("made", p.made);
  optional("keep", p.keep);
  optional("formerly", p.formerly);
  optional("held", p.held);
  optional("stray", p.stray);
  if (p.half_made) m.set(Symbol("half_made"), Value::boolean(true));
  if (p.protect) m.set(Symbol("protect"), Value::boolean(true));
  std::vector<Value> needs;
  for (auto& n : p.needs) needs.push_back(write_need(n, b));
  m.set(Symbol("needs"), b.list(needs));
  if (!p.orders.empty()) m.set(Symbol("orders"), write_orders(p.orders, b));
  return m.build(b);
}

PlannedInstance read_planned(const Value& entry) {
  Fields f(entry);
  PlannedInstance p;
  p.name = f.text("name");
  p.component = f.text("component");
  p.type = f.text("type");
  p.kind = f.text("kind");
  p.host = Symbol(f.text("host"));
  p.present = f.truth("present");
  p.stays = f.truth("stays", true);
  p.generation = f.number("generation", 1);
  p.former = f.texts("former");
  for (auto& element : f.texts("places")) p.marking.push_back(Symbol(element));
  p.config = f.value("config");
  p.tried = f.value("tried");
  p.old = f.value("old");
  p.made = f.value("made");
  p.keep = f.of_kind("keep", Kind::kList);
  p.formerly = f.of_kind("formerly", Kind::kMap);
  p.held = f.of_kind("held", Kind::kList);
  p.stray = f.of_kind("stray", Kind::kList);
  p.half_made = f.truth("half_made");
  p.protect = f.truth("protect");
  if (Value needs = f.of_kind("needs", Kind::kList); !needs.is(Kind::kNull))
    for (const Value& n : needs.items()) p.needs.push_back(read_need(n));
  p.orders = read_orders(f.value("orders"));
  return p;
}

}  // namespace tutti::engine
