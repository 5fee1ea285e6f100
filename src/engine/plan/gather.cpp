#include <fmt/format.h>

#include <algorithm>

#include "base/near.h"
#include "engine/plan/planner.h"
#include "tree/path.h"

namespace tutti::engine {
namespace {

// The same life cycle with nothing to do on the way.
Value without_actions(const Value& type, const TreeBuilder& b) {
  MapDraft out;
  for (const Entry& e : type.entries()) {
    if (e.key.text() != "transitions" || !e.value.is(Kind::kMap)) {
      out.set(e.key, e.value, e.field);
      continue;
    }
    MapDraft all;
    for (const Entry& t : e.value.entries()) {
      MapDraft one;
      for (const Entry& x : t.value.entries())
        if (x.key.text() == "from" || x.key.text() == "to") one.set(x.key, x.value, x.field);
      all.set(t.key, one.build(b), t.field);
    }
    out.set(e.key, all.build(b));
  }
  return out.build(b);
}

// A type without what it is called and which settings it takes: what its components do.
Value life_of(const Value& type, const TreeBuilder& b) {
  MapDraft out;
  for (const Entry& e : type.entries())
    if (e.key.text() != "config" && e.key.text() != "doc" && e.key.text() != "extends")
      out.set(e.key, e.value, e.field);
  return out.build(b);
}

std::vector<Symbol> changed_values(const RecordedComponent& was, const Present& now) {
  return now.config.is(Kind::kMap) ? changed_keys(was.made, now.config) : std::vector<Symbol>{};
}

}  // namespace

std::vector<Symbol> changed_keys(const Value& a, const Value& b) {
  std::vector<Symbol> keys;
  if (a.is(Kind::kMap))
    for (const Entry& e : a.entries()) {
      const Entry* other = b.find(e.key);
      if (!other || !equal(e.value, other->value)) keys.push_back(e.key);
    }
  if (b.is(Kind::kMap))
    for (const Entry& e : b.entries())
      if (!a.find(e.key)) keys.push_back(e.key);
  return keys;
}

void differences(const Value& a, const Value& b, std::string path, std::vector<PlanChange::Detail>& out, bool secret) {
  if (equal(a, b)) return;
  secret = secret || a.secret() || b.secret();  // what is in a secret map is one
  if (a.is(Kind::kMap) && b.is(Kind::kMap)) {
    for (const Entry& e : a.entries()) {
      const Entry* other = b.find(e.key);
      std::string p = path;
      append_path_key(p, e.key.text(), p.empty());
      differences(e.value, other ? other->value : Value::null(), p, out, secret);
    }
    for (const Entry& e : b.entries())
      if (!a.find(e.key)) {
        std::string p = path;
        append_path_key(p, e.key.text(), p.empty());
        differences(Value::null(), e.value, p, out, secret);
      }
    return;
  }
  auto kept = [&](const Value& v) { return secret && !v.is(Kind::kNull) ? v.as_secret() : v; };
  out.push_back({std::move(path), kept(a), kept(b), secret});
}

const Value* change_rule(const ComponentKind& kind, std::string_view key, const Component& want) {
  const Entry* e = kind.change.find(key);
  if (e && e->value.is(Kind::kMap)) {
    auto cases = e->value.entries();
    auto given = std::find_if(cases.begin(), cases.end(), [&](const Entry& c) {
      const Entry* setting = want.config.find(c.key);
      return c.key.text() != "*" && setting && !setting->value.is(Kind::kNull);
    });
    e = given != cases.end() ? &*given : e->value.find("*");
  }
  if (!e) e = kind.change.find("*");
  return e ? &e->value : nullptr;
}

std::string_view left_of(std::string_view name) { return name.substr(0, std::min(name.find('~'), name.size())); }

bool Planner::looked_at(const std::string& name) const {
  return options_.only.empty() ||
         std::find(options_.only.begin(), options_.only.end(), left_of(name)) != options_.only.end();
}

void Planner::check_only() const {
  std::vector<std::string_view> names(recorded_.order.begin(), recorded_.order.end());
  for (const Component& c : wanted_.components) names.push_back(c.name.text());
  std::set<std::string_view> known(names.begin(), names.end());
  for (const std::string& name : options_.only)
    if (!name.empty() && !known.count(name))
      session_.diagnostics.error("PLAN-ONLY", {}, fmt::format("there is no component `{}`", name))
          .did_you_mean(nearest(name, names));
}

void Planner::check_only_needs() const {
  if (options_.only.empty()) return;
  for (const Item& item : items_)
    for (const Need& n : item.want ? item.new_needs : std::vector<Need>{})
      if (!by_new_.count(std::string(n.provider.text())))
        session_.diagnostics
            .error("PLAN-ONLY", item.want->at,
                   fmt::format("`{}` {} `{}`, which is not there yet", item.component, n.hold ? "uses" : "comes after",
                               n.provider.text()))
            .suggest(fmt::format("--only {} too", n.provider.text()));
}

void Planner::add(Gathering& g, const Component& c, u32 generation) const {
  Item item;
  item.component = c.name.text();
  for (bool taken = true; taken; ++generation) {
    item.generation = generation;
    item.instance = instance_name(item.component, generation);
    taken = g.instances.count(item.instance) != 0;
  }
  item.kind = wanted_.kinds.at(std::string(c.type.text()));
  item.want = &c;
  item.new_needs = c.needs;
  item.goal = c.state;
  if (to_be_cleared(item)) item.new_needs.clear();  // what goes needs nobody
  g.fresh.push_back(std::move(item));
}

Item Planner::recorded_item(const std::string& name) const {
  const RecordedComponent& r = recorded_.components.at(name);
  Item item;
  item.component = name;
  item.instance = r.instance;
  item.generation = r.generation;
  item.was = &r;
  item.old_needs = r.needs;
  item.stands = r.marking;
  item.want = wanted_.find(Symbol(name));
  if (auto kind = recorded_.kinds.find(r.type); kind != recorded_.kinds.end())
    item.kind =
        model::describe_kind(Symbol(r.type), r.forgotten ? without_actions(kind->second, builder_) : kind->second, {});
  return item;
}

void Planner::stay_or_replace(Gathering& g, Item& item) {
  const RecordedComponent& r = *item.was;
  if (std::string why = must_replace(*item.want, r); !why.empty()) return replace(g, item, why);
  item.kind = wanted_.kinds.at(std::string(item.want->type.text()));
  item.new_needs = item.want->needs;
  item.goal = item.want->state;
  if (r.protect && item.goal == item.kind.removed && item.goal != item.kind.goal)
    session_.diagnostics
        .error("PLAN-PROTECTED", item.want->at,
               fmt::format("`{}` is protected and would have to be removed", item.component))
        .suggest("first apply it once without `protect`");
  auto split = std::stable_partition(item.old_needs.begin(), item.old_needs.end(), [&](auto& n) {
    return std::any_of(item.new_needs.begin(), item.new_needs.end(), [&](auto& m) { return m.port == n.port; });
  });
  item.dropped.assign(split, item.old_needs.end());
  item.old_needs.erase(split, item.old_needs.end());
}

void Planner::replace(Gathering& g, Item& item, const std::string& why) {
  const RecordedComponent& r = *item.was;
  if ((item.want->protect || r.protect) && !r.forgotten)
    session_.diagnostics
        .error("PLAN-PROTECTED", item.want->at,
               fmt::format("`{}` is protected and would have to be replaced", item.component))
        .note(why);
  add(g, *item.want, r.generation + 1);
  PlanChange change = change_of(PlanChange::Kind::kReplace, item.component, *item.want, r);
  item.makes_way = !r.forgotten && lives_otherwise(*item.want, r) && r.host == item.want->host &&
                   replacing_setting(*item.want, r).empty();
  change.why = why + (item.makes_way ? ": the old one goes first" : "");
  g.fresh.back().change = std::move(change);
  item.want = nullptr;
  replaced_.insert(item.component);
}

void Planner::remove(Item& item) const {
  const RecordedComponent& r = *item.was;
  if (auto kind = recorded_.kinds.find(r.type); r.found && kind != recorded_.kinds.end())
    item.kind = model::describe_kind(Symbol(r.type), without_actions(kind->second, builder_), {});
  item.goal = item.kind.removed;
  if (r.protect && !r.forgotten && !replaced_.count(item.component))
    session_.diagnostics
        .error("PLAN-PROTECTED", {}, fmt::format("`{}` is protected and would have to be removed", item.component))
        .suggest("keep it, or first apply it once without `protect`");
}

void Planner::gather() {
  check_only();
  Gathering g;
  for (auto& [name, r] : recorded_.components) g.instances.insert({r.instance, std::string(r.made_as())});
  for (const std::string& name : recorded_.order) {
    Item item = recorded_item(name);
    if (!looked_at(name)) {  // as it is
      item.want = nullptr;
      item.new_needs = item.was->needs;
      item.goal = item.was->marking.size() == 1 ? item.was->marking[0] : item.kind.goal;
      kept_.insert(items_.size());
    } else {
      if (item.want) stay_or_replace(g, item);
      if (!item.want) remove(item);
    }
    items_.push_back(std::move(item));
  }
  for (const Component& c : wanted_.components) {
    std::string name(c.name.text());
    if (!recorded_.components.count(name) && looked_at(name)) add(g, c, 1);
  }
  existing_ = items_.size();
  for (auto& f : g.fresh) items_.push_back(std::move(f));
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].was) by_old_[items_[i].component] = i;
    if (items_[i].want || kept_.count(i)) by_new_[items_[i].component] = i;
  }
  check_only_needs();
}

PlanChange Planner::change_of(PlanChange::Kind kind, const std::string& name, const Component& want,
                              const RecordedComponent& was) {
  PlanChange c;
  c.kind = kind;
  c.component = name;
  c.type = want.type.text();
  c.host = want.host;
  c.at = want.at;
  if (was.type != c.type) c.details.push_back({"type", builder_.string(was.type), builder_.string(c.type), false});
  if (was.host != want.host)
    c.details.push_back({"host", Value::string(was.host.text()), Value::string(want.host.text()), false});
  bool tried = !was.tried.is(Kind::kNull) && !equal(was.tried, want.config);
  differences(tried ? was.tried : was.config, want.config, "config", c.details);
  if (const Present* now = present(name)) {
    std::size_t before = c.details.size();
    auto written = changed_keys(was.config, want.config);
    for (Symbol key : changed_values(was, *now))
      if (std::find(written.begin(), written.end(), key) == written.end()) {
        const Entry *from = was.made.find(key), *to = now->config.find(key);
        differences(from ? from->value : Value::null(), to ? to->value : Value::null(),
                    fmt::format("config.{}", key.text()), c.details);
      }
    if (now->reads.is(Kind::kMap))
      for (const Entry& e : now->reads.entries())
        if (const Entry* from = was.reads.find(e.key))
          differences(from->value, e.value, std::string(e.key.text()), c.details);
    if (c.details.size() != before) c.why = "what it refers to has changed";
  }
  return c;
}

std::vector<Symbol> Planner::changed_settings(const Component& want, const RecordedComponent& was) const {
  auto keys = changed_keys(was.config, want.config);
  auto add = [&](const std::vector<Symbol>& more) {
    for (Symbol key : more)
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  };
  if (const Present* now = present(was.name)) add(changed_values(was, *now));
  if (!was.tried.is(Kind::kNull)) add(changed_keys(was.tried, want.config));  // of which something may be there
  return keys;
}

bool Planner::lives_otherwise(const Component& want, const RecordedComponent& was) const {
  if (was.type == want.type.text()) return false;
  auto old = recorded_.kinds.find(was.type);
  return old == recorded_.kinds.end() ||
         !equal(life_of(old->second, builder_),
                life_of(wanted_.kinds.at(std::string(want.type.text())).tree, builder_));
}

Symbol Planner::replacing_setting(const Component& want, const RecordedComponent& was) const {
  const ComponentKind& kind = wanted_.kinds.at(std::string(want.type.text()));
  bool other = lives_otherwise(want, was);
  for (Symbol key : changed_settings(want, was)) {
    const Value* rule = change_rule(kind, key.text(), want);
    bool had = !other || was.config.find(key);  // what only the new type knows has not changed
    if (had && rule && rule->is(Kind::kString) && rule->text() == "replace") return key;
  }
  return {};
}

std::string Planner::must_replace(const Component& want, const RecordedComponent& was) const {
  if (was.forgotten) return "the one that was there is forgotten";
  if (lives_otherwise(want, was)) return fmt::format("its type changes from {} to {}", was.type, want.type.text());
  if (was.host != want.host)
    return fmt::format("it moves to {}", want.host.empty() ? "this machine" : want.host.text());
  if (Symbol key = replacing_setting(want, was); !key.empty())
    return fmt::format("a {} with another {} is another one", want.type.text(), key.text());
  return "";
}

}  // namespace tutti::engine
