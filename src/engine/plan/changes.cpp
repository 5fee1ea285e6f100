// What a plan changes, to and from the tree that is saved with it.
#include "engine/plan/plan.h"

namespace tutti::engine {
namespace {

using Kind_ = PlanChange::Kind;
constexpr std::pair<Kind_, std::string_view> kWords[] = {
    {Kind_::kAdd, "add"},       {Kind_::kRemove, "remove"},       {Kind_::kReplace, "replace"},
    {Kind_::kChange, "change"}, {Kind_::kRelink, "relink"},       {Kind_::kMove, "move"},
    {Kind_::kRepair, "repair"}, {Kind_::kInterrupt, "interrupt"}, {Kind_::kRename, "rename"}};

std::string text(const Value& map, std::string_view key) {
  const Entry* e = map.find(key);
  return e && e->value.is(Kind::kString) ? std::string(e->value.text()) : "";
}

bool truth(const Value& map, std::string_view key, bool otherwise) {
  const Entry* e = map.find(key);
  return e && e->value.is(Kind::kBool) ? e->value.as_bool() : otherwise;
}

std::span<const Value> items(const Value& map, std::string_view key) {
  const Entry* e = map.find(key);
  return e && e->value.is(Kind::kList) ? e->value.items() : std::span<const Value>();
}

std::vector<std::string> texts(const Value& map, std::string_view key) {
  std::vector<std::string> out;
  for (const Value& v : items(map, key))
    if (v.is(Kind::kString)) out.emplace_back(v.text());
  return out;
}

Value list(const std::vector<std::string>& texts, const TreeBuilder& b) {
  std::vector<Value> out;
  for (auto& t : texts) out.push_back(b.string(t));
  return b.list(out);
}

}  // namespace

std::string_view change_word(PlanChange::Kind kind) {
  for (auto& [k, word] : kWords)
    if (k == kind) return word;
  return "";
}

Value write_changes(const Plan& plan, const TreeBuilder& b) {
  std::vector<Value> changes;
  for (auto& c : plan.changes) {
    std::vector<Value> details;
    for (auto& d : c.details) {
      std::vector<Entry> one{{Symbol("path"), Field::kPlain, b.string(d.path)},
                             {Symbol("from"), Field::kPlain, d.from},
                             {Symbol("to"), Field::kPlain, d.to},
                             {Symbol("secret"), Field::kPlain, Value::boolean(d.secret)}};
      details.push_back(b.map(one));
    }
    std::vector<Entry> one{{Symbol("action"), Field::kPlain, Value::string(change_word(c.kind))},
                           {Symbol("component"), Field::kPlain, b.string(c.component)},
                           {Symbol("was"), Field::kPlain, b.string(c.was)},
                           {Symbol("type"), Field::kPlain, b.string(c.type)},
                           {Symbol("host"), Field::kPlain, Value::string(c.host.text())},
                           {Symbol("behaviours"), Field::kPlain, list(c.behaviours, b)},
                           {Symbol("actions"), Field::kPlain, list(c.actions, b)},
                           {Symbol("acts"), Field::kPlain, Value::boolean(c.acts)},
                           {Symbol("why"), Field::kPlain, b.string(c.why)},
                           {Symbol("details"), Field::kPlain, b.list(details)}};
    changes.push_back(b.map(one));
  }
  std::vector<Value> followers;
  for (auto& f : plan.followers) {
    std::vector<Entry> one{{Symbol("component"), Field::kPlain, b.string(f.component)},
                           {Symbol("reads"), Field::kPlain, b.string(f.reads)},
                           {Symbol("in_this_call"), Field::kPlain, Value::boolean(f.in_this_call)}};
    followers.push_back(b.map(one));
  }
  std::vector<Entry> root{{Symbol("changes"), Field::kPlain, b.list(changes)},
                          {Symbol("followers"), Field::kPlain, b.list(followers)},
                          {Symbol("unchanged"), Field::kPlain, Value::integer(plan.unchanged)},
                          {Symbol("notes"), Field::kPlain, list(plan.notes, b)}};
  return b.map(root);
}

void read_changes(const Value& tree, Plan& plan) {
  for (const Value& v : items(tree, "changes")) {
    PlanChange c;
    std::string action = text(v, "action");
    for (auto& [kind, word] : kWords)
      if (word == action) c.kind = kind;
    c.component = text(v, "component");
    c.was = text(v, "was");
    c.type = text(v, "type");
    c.host = Symbol(text(v, "host"));
    c.behaviours = texts(v, "behaviours");
    c.actions = texts(v, "actions");
    c.acts = truth(v, "acts", true);
    c.why = text(v, "why");
    for (const Value& d : items(v, "details")) {
      const Entry *from = d.find("from"), *to = d.find("to"), *secret = d.find("secret");
      c.details.push_back({text(d, "path"), from ? from->value : Value::null(), to ? to->value : Value::null(),
                           secret && secret->value.is(Kind::kBool) && secret->value.as_bool()});
    }
    plan.changes.push_back(std::move(c));
  }
  if (const Entry* e = tree.find("unchanged"); e && e->value.fits_i64())
    plan.unchanged = static_cast<u32>(e->value.as_i64());
  plan.notes = texts(tree, "notes");
  for (const Value& v : items(tree, "followers"))
    plan.followers.push_back({text(v, "component"), text(v, "reads"), truth(v, "in_this_call", true)});
}

}  // namespace tutti::engine
