#include "engine/plan/plan_head.h"

namespace tutti::engine {
namespace {

Value entry_of(const Value& flat, std::string_view key, Kind kind) {
  const Entry* e = flat.is(Kind::kMap) ? flat.find(key) : nullptr;
  return e && e->value.is(kind) ? e->value : Value::null();
}

}  // namespace

Symbol PlanHead::goal_of(const std::string& kind) const {
  Value tree = entry_of(kinds, kind, Kind::kMap), goal = entry_of(tree, "goal", Kind::kString);
  return goal.is(Kind::kString) ? Symbol(goal.text()) : Symbol();
}

void write_head(const PlanHead& head, const TreeBuilder& b, std::vector<Entry>& flat) {
  flat.push_back({Symbol("changes"), Field::kPlain, Value::integer(head.changes)});
  flat.push_back({Symbol("kinds"), Field::kPlain, head.kinds});
  flat.push_back({Symbol("hosts"), Field::kPlain, head.hosts});
  flat.push_back({Symbol("invariants"), Field::kPlain, head.invariants});
  std::vector<Value> only;
  for (auto& name : head.only) only.push_back(b.string(name));
  if (!only.empty()) flat.push_back({Symbol("only"), Field::kPlain, b.list(only)});
  std::vector<Entry> renames;
  for (auto& [name, was] : head.renames) renames.push_back({Symbol(name), Field::kPlain, b.string(was)});
  if (!renames.empty()) flat.push_back({Symbol("renames"), Field::kPlain, b.map(renames)});
}

PlanHead read_head(const Value& flat) {
  PlanHead head;
  if (const Entry* e = flat.is(Kind::kMap) ? flat.find("changes") : nullptr; e && e->value.fits_i64())
    head.changes = e->value.as_i64();
  head.kinds = entry_of(flat, "kinds", Kind::kMap);
  head.hosts = entry_of(flat, "hosts", Kind::kMap);
  head.invariants = entry_of(flat, "invariants", Kind::kList);
  if (Value only = entry_of(flat, "only", Kind::kList); only.is(Kind::kList))
    for (const Value& name : only.items())
      if (name.is(Kind::kString)) head.only.emplace_back(name.text());
  if (Value renames = entry_of(flat, "renames", Kind::kMap); renames.is(Kind::kMap))
    for (const Entry& r : renames.entries()) head.renames[std::string(r.key.text())] = r.value.text();
  return head;
}

}  // namespace tutti::engine
