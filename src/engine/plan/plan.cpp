#include "engine/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/near.h"
#include "engine/plan/moments.h"
#include "engine/plan/words.h"
#include "model/read.h"
#include "tree/path.h"

namespace tutti::engine {
namespace {

using model::Component;
using model::ComponentKind;
using model::ComponentType;
using model::Deployment;
using model::Need;

// An instance in the plan: there already, or to be added.
struct Item {
  std::string component, instance;
  u32 generation = 1;
  ComponentKind kind;
  const RecordedComponent* was = nullptr;  // nullptr: to be added
  const Component* want = nullptr;         // nullptr: to be removed
  std::vector<Need> old_needs, new_needs;
  std::vector<Need> dropped;  // of what it had, what it no longer needs: its type has no such port any more
  const ComponentType* type = nullptr;
  std::string type_name;
  std::vector<Symbol> places;  // where it stands
  Marking at;                  // the same, by its type's numbers
  Symbol goal;
  std::vector<u32> first, second;    // behaviours before and after its links are changed
  bool linked_first = false;         // they are changed before all of that
  std::vector<Need> unlink, link;    // of the old and the new needs
  std::vector<model::Order> orders;  // those that count in this plan
  std::set<Symbol> gated;            // ports of what it begins to use, which count from when it comes back
  std::optional<PlanChange> change;

  bool busy() const { return !first.empty() || !second.empty(); }
  std::vector<u32> word() const {
    std::vector<u32> w = first;
    w.insert(w.end(), second.begin(), second.end());
    return w;
  }
};

void differences(const Value& a, const Value& b, std::string path, std::vector<PlanChange::Detail>& out,
                 bool secret = false) {
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

// It has not begun to act, and no other has left it anything.
bool never_came_to_it(const RecordedComponent& was) { return was.untouched && was.touched.is(Kind::kNull); }

// "leaves file /etc/motd, which was there before it came under tutti's care"; "" where it leaves nothing.
std::string what_is_left(const RecordedComponent& was) {
  if (!was.before.is(Kind::kList) || never_came_to_it(was)) return "";
  std::vector<std::string> things;
  for (const Value& v : was.before.items()) {
    if (v.text().starts_with("exec:")) continue;  // a step is nothing that could be left
    std::string thing(v.secret() ? "(secret)" : v.text());
    if (std::size_t colon = thing.find(':'); colon != std::string::npos) thing[colon] = ' ';
    things.push_back(std::move(thing));
  }
  std::size_t all = things.size();
  if (all == 0) return "";
  if (all > 3) things.resize(3), things.push_back(fmt::format("{} more", all - 3));
  if (!was.failed.empty()) return fmt::format("leaves {}, which it has not changed", fmt::join(things, ", "));
  return fmt::format("leaves {}, which {} there before it came under tutti's care", fmt::join(things, ", "),
                     all == 1 ? "was" : "were");
}

class Planner {
 public:
  Planner(Session& session, const Deployment& wanted, const Recorded& recorded, const PlanOptions& options)
      : session_(session), wanted_(wanted), recorded_(recorded), options_(options), builder_(session.arena) {}

  std::optional<Plan> make() {
    std::size_t before = session_.diagnostics.errors();
    gather();
    if (session_.diagnostics.errors() != before || !compile_types()) return std::nullopt;
    for (auto& item : items_) decide(item);
    if (session_.diagnostics.errors() != before) return std::nullopt;
    propagate();
    count_from_return();
    count_orders();
    if (!compile_types()) return std::nullopt;
    order();
    emit();
    if (session_.diagnostics.errors() != before) return std::nullopt;
    return std::move(plan_);
  }

 private:
  std::size_t index_of(const Item& item) const { return static_cast<std::size_t>(&item - items_.data()); }
  bool goes(const Item& item) const { return item.was && !item.want && !kept_.count(index_of(item)); }

  // On the way down whoever came after another goes before it, because its actions may refer to it; unless policies of
  // the component model say how they go.
  bool goes_before(const Item& item, const Need& n) const {
    if (n.hold || item.kind.hold.empty() || !goes(item) || !all_orders(item).empty()) return false;
    auto p = by_old_.find(std::string(n.provider.text()));
    return p != by_old_.end() && goes(items_[p->second]) && all_orders(items_[p->second]).empty();
  }

  bool looked_at(const std::string& name) const {
    return options_.only.empty() || std::find(options_.only.begin(), options_.only.end(), name) != options_.only.end();
  }

  static bool same_need(const Need& a, const Need& b) {
    return a.port == b.port && a.provider == b.provider && a.provide == b.provide && a.hold == b.hold;
  }

  static std::string need_path(const Need& n) { return n.hold ? fmt::format("uses.{}", n.port.text()) : "after"; }

  static bool same_orders(const std::vector<model::Order>& a, const std::vector<model::Order>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto& x, auto& y) {
      return x.place == y.place && x.provider == y.provider && x.provide == y.provide;
    });
  }

  void gather() {
    std::vector<Item> fresh;
    std::set<std::string> replaced;
    std::vector<std::string_view> names(recorded_.order.begin(), recorded_.order.end());
    for (const Component& c : wanted_.components) names.push_back(c.name.text());
    for (const std::string& name : options_.only)
      if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
        session_.diagnostics.error("PLAN-ONLY", {}, fmt::format("there is no component `{}`", name))
            .did_you_mean(nearest(name, names));
    auto add = [&](const Component& c, u32 generation) {
      Item item;
      item.component = c.name.text();
      item.generation = generation;
      item.instance = generation == 1 ? item.component : fmt::format("{}#{}", item.component, generation);
      item.kind = wanted_.kinds.at(std::string(c.type.text()));
      item.want = &c;
      item.new_needs = c.needs;
      item.goal = c.state;
      fresh.push_back(std::move(item));
    };
    for (const std::string& name : recorded_.order) {
      const RecordedComponent& r = recorded_.components.at(name);
      Item item;
      item.component = name;
      item.instance = r.instance;
      item.generation = r.generation;
      item.was = &r;
      item.old_needs = r.needs;
      item.places = r.places;
      item.want = wanted_.find(Symbol(name));
      auto old_kind = recorded_.kinds.find(r.type);
      if (old_kind != recorded_.kinds.end())
        item.kind = model::describe_kind(
            Symbol(r.type), r.forgotten ? without_actions(old_kind->second, builder_) : old_kind->second, {});
      if (!looked_at(name)) {  // as it is
        item.want = nullptr;
        item.new_needs = r.needs;
        item.goal = r.places.empty() ? item.kind.goal : r.places[0];
        kept_.insert(items_.size());
      } else if (item.want) {
        std::string why = must_replace(*item.want, r);
        if (!why.empty()) {
          if (item.want->protect && !r.forgotten) {
            session_.diagnostics
                .error("PLAN-PROTECTED", item.want->at,
                       fmt::format("`{}` is protected and would have to be replaced", name))
                .note(why);
          }
          add(*item.want, r.generation + 1);
          fresh.back().change = change_of(PlanChange::Kind::kReplace, name, *item.want, r);
          fresh.back().change->why = why;
          item.want = nullptr;
          replaced.insert(name);
        } else {
          item.kind = wanted_.kinds.at(std::string(item.want->type.text()));
          item.new_needs = item.want->needs;
          item.goal = item.want->state;
          auto split = std::stable_partition(item.old_needs.begin(), item.old_needs.end(), [&](auto& n) {
            return std::any_of(item.new_needs.begin(), item.new_needs.end(), [&](auto& m) { return m.port == n.port; });
          });
          item.dropped.assign(split, item.old_needs.end());
          item.old_needs.erase(split, item.old_needs.end());
        }
      }
      if (!item.want && !kept_.count(items_.size())) {
        if (r.found && old_kind != recorded_.kinds.end())
          item.kind = model::describe_kind(Symbol(r.type), without_actions(old_kind->second, builder_), {});
        item.goal = item.kind.removed;
        if (r.protect && !r.forgotten && !replaced.count(name))
          session_.diagnostics
              .error("PLAN-PROTECTED", {}, fmt::format("`{}` is protected and would have to be removed", name))
              .suggest("keep it, or first apply it once without `protect`");
      }
      items_.push_back(std::move(item));
    }
    for (const Component& c : wanted_.components) {
      std::string name(c.name.text());
      if (recorded_.components.count(name) || !looked_at(name)) continue;
      add(c, 1);
    }
    existing_ = items_.size();
    for (auto& f : fresh) items_.push_back(std::move(f));
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].was) by_old_[items_[i].component] = i;
      if (items_[i].want || kept_.count(i)) by_new_[items_[i].component] = i;
    }
    for (const Item& item : items_)
      for (const Need& n : item.want ? item.new_needs : std::vector<Need>{})
        if (!options_.only.empty() && !by_new_.count(std::string(n.provider.text())))
          session_.diagnostics
              .error("PLAN-ONLY", item.want->at,
                     fmt::format("`{}` {} `{}`, which is not there yet", item.component,
                                 n.hold ? "uses" : "comes after", n.provider.text()))
              .suggest(fmt::format("--only {} too", n.provider.text()));
    replaced_ = replaced;
  }

  PlanChange change_of(PlanChange::Kind kind, const std::string& name, const Component& want,
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
    differences(was.config, want.config, "config", c.details);
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

  const Present* present(const std::string& component) const {
    auto it = options_.present.find(component);
    return it == options_.present.end() ? nullptr : &it->second;
  }

  static std::vector<Symbol> changed_values(const RecordedComponent& was, const Present& now) {
    return now.config.is(Kind::kMap) ? changed_keys(was.made, now.config) : std::vector<Symbol>{};
  }

  // Settings that are written otherwise than they were, or refer to what is otherwise now.
  std::vector<Symbol> changed_settings(const Component& want, const RecordedComponent& was) const {
    auto keys = changed_keys(was.config, want.config);
    if (const Present* now = present(was.name))
      for (Symbol key : changed_values(was, *now))
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    return keys;
  }

  // The keys of the configuration that differ, at its top.
  static std::vector<Symbol> changed_keys(const Value& a, const Value& b) {
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

  // What a type says of a changed setting, where it makes a difference which others the component has.
  static const Value* change_rule(const ComponentKind& kind, std::string_view key, const Component& want) {
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

  std::string must_replace(const Component& want, const RecordedComponent& was) const {
    if (was.forgotten) return "the one that was there is forgotten";
    if (was.type != want.type.text()) return fmt::format("its type changes from {} to {}", was.type, want.type.text());
    if (was.host != want.host)
      return fmt::format("it moves to {}", want.host.empty() ? "this machine" : want.host.text());
    const ComponentKind& kind = wanted_.kinds.at(was.type);
    for (Symbol key : changed_settings(want, was))
      if (const Value* rule = change_rule(kind, key.text(), want);
          rule && rule->is(Kind::kString) && rule->text() == "replace")
        return fmt::format("a {} with another {} is another one", was.type, key.text());
    return "";
  }

  bool compile_types() {
    std::map<std::string, Value> trees;
    for (auto& item : items_) {
      std::vector<Need> ports = item.new_needs;
      for (auto& n : item.old_needs)
        if (std::none_of(ports.begin(), ports.end(), [&](auto& p) { return p.port == n.port; })) ports.push_back(n);
      for (auto& n : ports) n.hold = (n.hold && !item.gated.count(n.port)) || goes_before(item, n);
      std::sort(ports.begin(), ports.end(), [](auto& a, auto& b) { return a.port.text() < b.port.text(); });
      item.type_name = model::engine_type_name(item.kind, ports, item.orders);
      if (item.was && !item.want) item.type_name += "'";  // as it was recorded, which may not be as it is now
      if (item.was && (item.was->forgotten || (item.was->found && !item.want))) item.type_name += "'";
      if (!trees.count(item.type_name))
        trees[item.type_name] = model::engine_type(item.kind, ports, item.orders, builder_);
    }
    std::vector<Entry> entries;
    for (auto& [name, tree] : trees) entries.push_back({Symbol(name), Field::kPlain, tree});
    types_tree_ = builder_.map(entries);
    types_ = model::read_types(session_, types_tree_);
    std::map<std::string, const ComponentType*> named;
    for (auto& t : types_) named[std::string(t->name.text())] = t.get();
    for (auto& item : items_) {
      auto it = named.find(item.type_name);
      if (it == named.end()) return false;
      item.type = it->second;
      item.at.clear();
      if (!item.was) {
        item.at = item.type->initial;
      } else {
        for (Symbol p : item.places) {
          u32 place = item.type->find_place(p);
          if (place == model::kNone) {
            session_.diagnostics.error(
                "PLAN-PLACE", item.want ? item.want->at : Pos{},
                fmt::format("`{}` is recorded in state `{}`, which its type no longer has", item.component, p.text()));
            return false;
          }
          item.at.push_back(place);
        }
      }
      std::sort(item.at.begin(), item.at.end());
    }
    return true;
  }

  std::optional<std::vector<u32>> path(const Item& item, const Marking& from, Symbol goal) {
    u32 place = item.type->find_place(goal);
    auto word = word_to(*item.type, from, [&](const Marking& m) { return m.size() == 1 && m[0] == place; });
    if (!word)
      session_.diagnostics.error("PLAN-UNREACHABLE", item.want ? item.want->at : Pos{},
                                 fmt::format("no behaviours of `{}` ({}) lead to state `{}`", item.component,
                                             item.kind.name.text(), goal.text()));
    return word;
  }

  std::vector<u32> behaviours(const Item& item, const Value& names) {
    std::vector<u32> out;
    if (!names.is(Kind::kList)) return out;
    for (const Value& v : names.items()) {
      u32 b = v.is(Kind::kString) ? item.type->find_behaviour(Symbol(v.text())) : model::kNone;
      if (b == model::kNone) {
        session_.diagnostics.error("PLAN-BEHAVIOUR", session_.origins.nearest(v.origin()),
                                   fmt::format("type `{}` has no behaviour `{}`", item.kind.name.text(),
                                               v.is(Kind::kString) ? v.text() : "?"));
        continue;
      }
      out.push_back(b);
    }
    return out;
  }

  // What one item has to do for its own sake.
  void decide(Item& item) {
    if (kept_.count(index_of(item))) return;
    if (!item.was) {
      if (auto w = path(item, item.at, item.goal)) item.first = *w;
      item.link = item.new_needs;
      if (!item.change) {
        PlanChange c;
        c.kind = PlanChange::Kind::kAdd;
        c.component = item.component;
        c.type = item.want->type.text();
        c.host = item.want->host;
        c.at = item.want->at;
        differences(builder_.map({}), item.want->config, "config", c.details);
        item.change = std::move(c);
      }
      return;
    }
    if (!item.want) {
      if (const Component* c = wanted_.find(Symbol(item.component)); !c || !replaced_.count(item.component)) {
        PlanChange ch;
        ch.kind = PlanChange::Kind::kRemove;
        ch.component = item.component;
        ch.type = item.was->type;
        ch.host = item.was->host;
        if (item.was->found)
          ch.why = "it was there before it came under tutti's care, and is left";
        else
          ch.why = what_is_left(*item.was);
        item.change = std::move(ch);
      }
      take_as_made(item);
      if (auto w = path(item, item.at, item.goal)) item.first = *w;
      item.unlink = item.old_needs;
      return;
    }
    PlanChange change = change_of(PlanChange::Kind::kChange, item.component, *item.want, *item.was);
    // Links: those that are no more or lead elsewhere now.
    for (auto& n : item.old_needs)
      if (std::none_of(item.new_needs.begin(), item.new_needs.end(), [&](auto& m) { return same_need(n, m); }) ||
          replaced_.count(std::string(n.provider.text()))) {
        item.unlink.push_back(n);
      }
    for (auto& n : item.dropped)
      change.details.push_back({need_path(n), Value::string(n.provider.text()), Value::null(), false});
    for (auto& n : item.new_needs)
      if (std::none_of(item.old_needs.begin(), item.old_needs.end(), [&](auto& m) { return same_need(n, m); }) ||
          replaced_.count(std::string(n.provider.text()))) {
        item.link.push_back(n);
        auto old =
            std::find_if(item.old_needs.begin(), item.old_needs.end(), [&](auto& m) { return m.port == n.port; });
        if (old == item.old_needs.end() || !same_need(*old, n))
          change.details.push_back({need_path(n),
                                    old == item.old_needs.end() ? Value::null() : Value::string(old->provider.text()),
                                    Value::string(n.provider.text()), false});
      }
    std::vector<u32> word;
    bool all_of_it = options_.restart;
    auto old_kind = recorded_.kinds.find(item.was->type);
    bool type_changed = old_kind != recorded_.kinds.end() && !equal(old_kind->second, item.kind.tree);
    auto keys = changed_settings(*item.want, *item.was);
    if (type_changed) change.details.push_back({"type's definition", Value::null(), Value::null(), false});
    const Present* now = present(item.component);
    bool anew = type_changed || (now && now->reads.is(Kind::kMap));
    if (anew || options_.restart) {
      if (const Entry* e = item.kind.change.find("*")) word = behaviours(item, e->value);
      all_of_it = true;
    } else {
      // All changed settings must agree on what to do; otherwise it is done as for any other setting.
      const Value* rule = nullptr;
      bool agree = true;
      for (Symbol key : keys) {
        const Value* r = change_rule(item.kind, key.text(), *item.want);
        if (r && r->is(Kind::kList) && r->size() == 0) continue;
        if (rule && r && !equal(*rule, *r)) agree = false;
        rule = r;
      }
      if (!agree)
        if (const Entry* e = item.kind.change.find("*")) rule = &e->value;
      if (rule) word = behaviours(item, *rule);
    }
    if (!same_orders(item.want->orders, item.was->orders))
      change.details.push_back({"order", Value::null(), Value::null(), false});
    u32 goal = item.type->find_place(item.goal);
    bool there = item.at.size() == 1 && item.at[0] == goal;
    bool drifted = there && options_.drift.count(item.component) != 0;
    if (drifted) {
      const auto& found = options_.drift.at(item.component);
      if (word.empty()) word = repair(item, found);
      change.why = found[0].text + (found.size() > 1 ? fmt::format(" (and {} more)", found.size() - 1) : "");
    }
    if (there && word.empty() && !item.was->failed.empty()) word = repair(item, {});
    if (!item.was->failed.empty()) change.why = fmt::format("`{}` failed the last time", item.was->failed);
    if (!there) word.clear();  // on its way there it meets its new configuration anyway
    if (item.want->protect != item.was->protect)
      change.details.push_back(
          {"protect", Value::boolean(item.was->protect), Value::boolean(item.want->protect), false});
    bool mend = !item.was->failed.empty() && (!there || (keys.empty() && !anew));
    change.kind = mend                                  ? PlanChange::Kind::kRepair
                  : drifted && change.details.empty()   ? PlanChange::Kind::kRepair
                  : !there                              ? PlanChange::Kind::kMove
                  : change.details.empty() && all_of_it ? PlanChange::Kind::kChange
                  : keys.empty() && !anew && (!item.link.empty() || !item.unlink.empty() || !item.dropped.empty())
                      ? PlanChange::Kind::kRelink
                      : PlanChange::Kind::kChange;
    if (!there && change.kind == PlanChange::Kind::kMove)
      change.details.push_back({"state",
                                item.was->places.empty() ? Value::null() : Value::string(item.was->places[0].text()),
                                Value::string(item.goal.text()), false});
    if (auto rest = path(item, run_word(*item.type, item.at, word), item.goal))
      word.insert(word.end(), rest->begin(), rest->end());
    split(item, word);
    if (item.busy() || !item.link.empty() || !item.unlink.empty() || !change.details.empty())
      item.change = std::move(change);
  }

  // What failed on its way up is removed as if it had come up: every action looks before it touches, and nothing is
  // started only to be stopped. What had not begun to act leaves nothing to remove.
  static void take_as_made(Item& item) {
    if (item.was->failed.empty() && !item.was->untouched) return;
    auto stand = [&](Symbol place) {
      item.places = {place};
      item.at = {item.type->find_place(place)};
    };
    if (never_came_to_it(*item.was)) return stand(item.kind.removed);
    u32 removed = item.type->find_place(item.kind.removed), up = item.type->find_place(item.kind.goal);
    auto word = word_to(*item.type, item.at, [&](const Marking& m) { return m == Marking{removed}; });
    if (item.at == Marking{up}) return;
    if (!word || visits(item, item.at, *word, up)) stand(item.kind.goal);
  }

  // Where only files are otherwise, what is done when they change; else what is done for any change. Either way
  // everything is looked at before it is touched.
  std::vector<u32> repair(const Item& item, const std::vector<Deviation>& found) {
    bool files = std::all_of(found.begin(), found.end(), [](auto& d) { return d.resource == "file"; });
    const Value* rule = files ? change_rule(item.kind, "files", *item.want) : nullptr;
    if (!rule || !rule->is(Kind::kList) || rule->size() == 0) rule = change_rule(item.kind, "*", *item.want);
    if (rule && rule->is(Kind::kList) && rule->size() > 0) return behaviours(item, *rule);
    // A type that is never changed in place goes all the way down and comes back.
    auto down = path(item, item.at, item.kind.removed);
    return down ? *down : std::vector<u32>{};
  }

  // The ports of an item that these needs have.
  static std::vector<u32> ports_of(const Item& item, const std::vector<Need>& needs) {
    std::vector<u32> ports;
    for (auto& n : needs)
      if (u32 port = item.type->find_port(n.port); port != model::kNone) ports.push_back(port);
    return ports;
  }

  static bool free_of(const Item& item, const Marking& m, const std::vector<u32>& ports) {
    return std::none_of(ports.begin(), ports.end(), [&](u32 p) { return active(*item.type, m, p); });
  }

  // How far the word leads until the ports are inactive; 0 where they never are.
  static std::size_t length_until_free(const Item& item, const std::vector<u32>& word, const std::vector<u32>& ports) {
    Marking m = item.at;
    for (std::size_t i = 0; i < word.size(); ++i) {
      m = pass(*item.type, m, word[i]).end;
      if (free_of(item, m, ports)) return i + 1;
    }
    return 0;
  }

  // Cuts the word where the ports whose links change are inactive; where it has no such moment, a detour makes one for
  // those that it must let go of. What it begins to use may come to it while it is up.
  void split(Item& item, std::vector<u32> word) {
    if (item.unlink.empty() && item.link.empty()) {
      item.first = std::move(word);
      return;
    }
    auto leave = ports_of(item, item.unlink), all = ports_of(item, item.link);
    all.insert(all.end(), leave.begin(), leave.end());
    bool free = free_of(item, item.at, leave);
    std::size_t cut = free_of(item, item.at, all) ? 0 : length_until_free(item, word, all);
    if (!free && cut == 0) cut = length_until_free(item, word, leave);
    if (cut == 0 && free) {
      item.linked_first = true;
      item.first = std::move(word);
      return;
    }
    if (cut != 0) {
      item.first.assign(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(cut));
      item.second.assign(word.begin() + static_cast<std::ptrdiff_t>(cut), word.end());
      return;
    }
    auto out = word_to(*item.type, item.at, [&](const Marking& m) { return free_of(item, m, leave); });
    if (!out) {
      session_.diagnostics.error("PLAN-STUCK", item.want ? item.want->at : Pos{},
                                 fmt::format("`{}` can never let go of what it uses", item.component));
      return;
    }
    item.first = *out;
    if (auto back = path(item, run_word(*item.type, item.at, *out), item.goal)) item.second = *back;
  }

  // Whoever holds a port that is dropped must let go of it first, and may come back after: until nothing more follows.
  void propagate() {
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
          if (provide == model::kNone || !provider.busy() ||
              !drops(*provider.type, provider.at, provider.word(), provide))
            continue;
          if (lets_go(user, use)) continue;
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
  }

  // Who goes down and comes back needs what it begins to use only then: on the way down it cannot have it yet.
  void count_from_return() {
    for (std::size_t i = 0; i < existing_; ++i) {
      Item& item = items_[i];
      if (!item.want || item.first.empty() || item.linked_first) continue;
      Marking down = run_word(*item.type, item.at, item.first);
      bool gate = std::any_of(item.kind.gate.begin(), item.kind.gate.end(),
                              [&](Symbol g) { return visits(item, down, item.second, item.type->find_place(g)); });
      for (auto& n : item.link)
        if (gate &&
            std::none_of(item.old_needs.begin(), item.old_needs.end(), [&](auto& m) { return m.port == n.port; }))
          item.gated.insert(n.port);
    }
  }

  static const std::vector<model::Order>& all_orders(const Item& item) {
    static const std::vector<model::Order> kNone;
    return item.want ? item.want->orders : item.was ? item.was->orders : kNone;
  }

  std::optional<std::size_t> ordered_after(const Item& item, const model::Order& o) const {
    auto& by = item.want ? by_new_ : by_old_;
    auto it = by.find(std::string(o.provider.text()));
    if (it == by.end() || &items_[it->second] == &item) return std::nullopt;
    return it->second;
  }

  bool takes_turns(const Item& later, const Item& sooner) const {
    return std::find(turns_.begin(), turns_.end(), std::pair(index_of(sooner), index_of(later))) != turns_.end();
  }

  // An order counts where one enters the place in this plan and the other is on its way to provide the port for good.
  // Where both only go down and come up again they take turns instead, in the same order.
  void count_orders() {
    for (Item& item : items_) {
      if (!item.busy()) continue;
      for (auto& o : all_orders(item)) {
        auto p = ordered_after(item, o);
        u32 place = item.type->find_place(o.place);
        if (!p || place == model::kNone || !items_[*p].busy() || !visits(item, item.at, item.word(), place)) continue;
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

  static bool visits(const Item& item, Marking m, const std::vector<u32>& word, u32 place) {
    for (u32 b : word) {
      Passage p = pass(*item.type, m, b);
      if (std::find(p.visited.begin(), p.visited.end(), place) != p.visited.end()) return true;
      m = p.end;
    }
    return false;
  }

  // Whether a word of its own has a moment without the port.
  bool lets_go(const Item& item, u32 port) const {
    Marking m = item.at;
    for (u32 b : item.word()) {
      m = pass(*item.type, m, b).end;
      if (!active(*item.type, m, port)) return true;
    }
    return false;
  }

  bool interrupted(const Item& item) const {
    if (!item.was || !item.busy()) return false;
    for (u32 q = item.type->uses; q < item.type->ports.size(); ++q)
      if (active(*item.type, item.at, q) && drops(*item.type, item.at, item.word(), q)) return true;
    return item.at != run_word(*item.type, item.at, item.word());
  }

  // ---- who before whom

  std::optional<std::size_t> item_of(const std::map<std::string, std::size_t>& by, Symbol component) const {
    auto it = by.find(std::string(component.text()));
    if (it == by.end()) return std::nullopt;
    return it->second;
  }

  // How far its word leads until it has let go of something that it has; 0 where nothing lies behind that.
  static std::size_t cut_of(const Item& item) {
    Marking m = item.at;
    for (std::size_t k = 0; k + 1 < item.first.size(); ++k) {
      m = pass(*item.type, m, item.first[k]).end;
      for (u32 q = 0; q < item.type->ports.size(); ++q)
        if (active(*item.type, item.at, q) && !active(*item.type, m, q)) return k + 1;
    }
    return 0;
  }

  // Whether a port of it becomes active on its way.
  static bool enters(const Item& item, u32 port) {
    Marking m = item.at;
    bool was = active(*item.type, m, port);
    for (u32 b : item.word()) {
      Passage p = pass(*item.type, m, b);
      bool there = std::any_of(p.visited.begin(), p.visited.end(),
                               [&](u32 q) { return item.type->group.test(port, item.type->place_element(q)); });
      if (there && (!was || drops(*item.type, m, {b}, port))) return true;
      m = p.end;
      was = active(*item.type, m, port);
    }
    return false;
  }

  static bool comes_and_goes(const Item& provider, u32 port) {
    return !active(*provider.type, provider.at, port) || drops(*provider.type, provider.at, provider.word(), port);
  }

  void order() {
    moments_.emplace(items_.size());
    follow_ports();
    link_in_use();
    for (auto& inv : wanted_.invariants) keep(inv);
    for (auto [sooner, later] : turns_) moments_->prefer(Moments::up(sooner), Moments::down(later));
    for (std::size_t i = 0; i < items_.size(); ++i) come_after(i);
    for (std::size_t i = 0; i < items_.size(); ++i) go_last(i);
    moments_->settle();
    for (std::size_t i = 0; i < items_.size(); ++i) {
      Item& item = items_[i];
      if (moments_->turn(Moments::down(i)) == moments_->turn(Moments::up(i)) || !item.second.empty()) continue;
      auto cut = item.first.begin() + static_cast<std::ptrdiff_t>(cut_of(item));
      item.second.assign(cut, item.first.end());
      item.first.erase(cut, item.first.end());
    }
  }

  // What the ports see to: users leave before what they use goes down, and come when it is up.
  void follow_ports() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      if (!item.busy()) continue;
      if (!item.was || goes(item) || (item.second.empty() && cut_of(item) == 0)) moments_->join(i);
      if (item.was)
        for (auto& n : item.old_needs) {
          auto p = item_of(by_old_, n.provider);
          u32 use = item.type->find_port(n.port);
          if (!p || !items_[*p].busy() || use == model::kNone || !active(*item.type, item.at, use)) continue;
          u32 provide = items_[*p].type->find_port(n.provide);
          if (provide != model::kNone && drops(*items_[*p].type, items_[*p].at, items_[*p].word(), provide))
            moments_->must(Moments::down(i), Moments::down(*p));
        }
      for (auto& n : item.new_needs) {
        auto p = item_of(by_new_, n.provider);
        u32 use = item.type->find_port(n.port);
        if (!p || !items_[*p].busy() || use == model::kNone || !enters(item, use)) continue;
        u32 provide = items_[*p].type->find_port(n.provide);
        if (provide != model::kNone && comes_and_goes(items_[*p], provide))
          moments_->must(Moments::up(*p), Moments::up(i));
      }
      for (auto& o : item.orders) moments_->must(Moments::up(*ordered_after(item, o)), Moments::up(i));
    }
  }

  // Who begins to use something while it is up finds it there.
  void link_in_use() {
    for (std::size_t i = 0; i < existing_; ++i) {
      const Item& item = items_[i];
      if (!item.want) continue;
      Marking then = item.linked_first ? item.at : run_word(*item.type, item.at, item.first);
      for (auto& n : item.link) {
        auto p = item_of(by_new_, n.provider);
        u32 use = item.type->find_port(n.port);
        if (p && items_[*p].busy() && use != model::kNone && active(*item.type, then, use))
          moments_->prefer(Moments::up(*p), item.linked_first ? Moments::down(i) : Moments::up(i));
      }
    }
  }

  void come_after(std::size_t i) {
    const Item& item = items_[i];
    if (!item.want || (!item.busy() && item.link.empty())) return;
    for (auto& n : item.new_needs) {
      auto p = item_of(by_new_, n.provider);
      if (!p || !items_[*p].busy()) continue;
      // A new one finds a new provider by its port; one that is there already must be told to wait.
      if (!n.hold && (items_[*p].was || item.was) && !moments_->prefer(Moments::up(*p), Moments::down(i)))
        moments_->prefer(Moments::up(*p), Moments::up(i));
      // Who moves over to a new one stays with the old one until that is there.
      if (n.hold && item.was && !items_[*p].was && interrupted(item))
        moments_->prefer(Moments::up(*p), Moments::down(i));
    }
    // What it no longer needs is there until it has become what it should be.
    for (auto& n : item.dropped)
      if (auto p = item_of(by_old_, n.provider); p && item.busy() && items_[*p].busy())
        moments_->prefer(Moments::up(i), Moments::down(*p));
  }

  // What goes, goes last.
  void go_last(std::size_t i) {
    const Item& item = items_[i];
    if (!goes(item)) return;
    if (replaced_.count(item.component) && !moments_->prefer(Moments::up(by_new_.at(item.component)), Moments::down(i)))
      if (std::string why = why_down({i}); !why.empty())
        plan_.notes.push_back(fmt::format("`{}` goes before the new one comes: {}", item.component, why));
    for (std::size_t d = 0; d < items_.size(); ++d)
      if (d != i && items_[d].want && items_[d].busy())
        for (auto& n : items_[d].old_needs)
          if (!n.hold && n.provider.text() == item.component) moments_->prefer(Moments::up(d), Moments::down(i));
  }

  // ---- invariants

  static bool is_up(const Item& item, const model::Invariant& inv) {
    u32 port = item.type->find_port(inv.port.empty() ? item.kind.service : inv.port);
    return item.was && port != model::kNone && active(*item.type, item.at, port);
  }

  struct Members {
    std::vector<std::size_t> interrupted, coming, going;  // those that are up, that are not yet, that are up and go
    u32 up = 0;
  };
  Members members_of(const model::Invariant& inv) const {
    Members m;
    for (Symbol s : inv.of) {
      auto i = item_of(by_new_, s);
      if (!i) continue;
      const Item& item = items_[*i];
      if (is_up(item, inv)) {
        ++m.up;
        if (interrupted(item)) m.interrupted.push_back(*i);
      } else if (item.busy()) {
        m.coming.push_back(*i);
      }
    }
    for (std::size_t i = 0; i < existing_; ++i)
      if (goes(items_[i]) && is_up(items_[i], inv) &&
          std::find(inv.of.begin(), inv.of.end(), Symbol(items_[i].component)) != inv.of.end()) {
        ++m.up;
        m.going.push_back(i);
      }
    return m;
  }

  void keep(const model::Invariant& inv) {
    Members m = members_of(inv);
    if (inv.kind == model::Invariant::Kind::kAtMost) {
      // Who comes waits for those that go, where there is no room for both.
      if (m.up + m.coming.size() > inv.count)
        for (std::size_t c : m.coming)
          for (std::size_t g : m.going) moments_->prefer(Moments::up(g), Moments::down(c));
      return;
    }
    // Those that are down at the same time, whatever the order: they use something that is interrupted.
    std::vector<std::vector<std::size_t>> groups;
    std::set<std::size_t> with_others;  // of those that go
    for (std::size_t i : m.interrupted) {
      auto together = [&](const std::vector<std::size_t>& g) {
        return moments_->before(Moments::down(i), Moments::up(g[0])) &&
               moments_->before(Moments::down(g[0]), Moments::up(i));
      };
      auto group = std::find_if(groups.begin(), groups.end(), together);
      if (group == groups.end()) group = groups.insert(groups.end(), std::vector<std::size_t>{});
      group->push_back(i);
    }
    for (std::size_t g : m.going)
      for (auto& group : groups)
        if (!with_others.count(g) && moments_->before(Moments::down(g), Moments::up(group[0]))) {
          group.push_back(g);
          with_others.insert(g);
        }
    std::size_t largest = 0;
    for (auto& g : groups) largest = std::max(largest, g.size());
    for (std::size_t g : m.going)
      if (!with_others.count(g)) {
        for (auto& group : groups)
          for (std::size_t i : group) moments_->prefer(Moments::up(i), Moments::down(g));
        bool held = true;
        for (std::size_t c : m.coming) held = moments_->prefer(Moments::up(c), Moments::down(g)) && held;
        if (!held && m.up >= inv.count) cannot_[&inv] = why_down({g});
      }
    // So many may be down at once. Those to come count only where the others wait for them, which is where without
    // them too few could be spared.
    std::size_t spare = m.up > inv.count ? m.up - inv.count : 0;
    if (m.interrupted.size() + with_others.size() <= spare) return;
    if (largest > spare) {
      std::size_t more = 0;
      for (std::size_t c : m.coming) {
        bool sooner = true;
        for (auto& group : groups)
          for (std::size_t i : group) sooner = moments_->prefer(Moments::up(c), Moments::down(i)) && sooner;
        if (sooner) ++more;
      }
      spare += more;
    }
    for (auto& group : groups)
      if (group.size() > spare && m.up >= inv.count && !cannot_.count(&inv)) cannot_[&inv] = why_down(group);
    spare = std::max<std::size_t>(spare, 1);
    std::vector<std::size_t> sooner;
    for (auto& group : groups) {
      std::size_t end = sooner.size() + group.size();
      for (std::size_t k = 0; k < sooner.size() && k + spare < end; ++k)
        for (std::size_t i : group) moments_->prefer(Moments::up(sooner[k]), Moments::down(i));
      sooner.insert(sooner.end(), group.begin(), group.end());
    }
  }

  // The way from a user to what it uses, by names: {"app", "cache", "db"}.
  std::vector<std::string> uses_path(std::size_t from, std::size_t to) const {
    std::map<std::size_t, std::size_t> came{{from, from}};
    std::vector<std::size_t> todo{from};
    for (std::size_t k = 0; k < todo.size(); ++k)
      for (auto& n : items_[todo[k]].old_needs)
        if (auto p = item_of(by_old_, n.provider); p && n.hold && came.emplace(*p, todo[k]).second) todo.push_back(*p);
    std::vector<std::string> names;
    if (!came.count(to)) return names;
    for (std::size_t at = to;; at = came.at(at)) {
      names.insert(names.begin(), items_[at].component);
      if (at == from) return names;
    }
  }

  static std::string why_interrupted(const PlanChange& c) {
    std::vector<std::string> paths;
    for (auto& d : c.details) paths.push_back(d.path);
    if (c.kind == PlanChange::Kind::kRemove) return "is removed";
    if (paths.empty()) return c.why.empty() ? "is interrupted" : fmt::format("is interrupted ({})", c.why);
    if (paths.size() > 3) paths.resize(3), paths.push_back("...");
    return fmt::format("is interrupted to change {}", fmt::join(paths, ", "));
  }

  static std::string listed(const std::vector<std::string>& names) {
    if (names.size() < 2) return names.empty() ? "" : names[0];
    return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
  }

  // Why these are down at the same time: whom they use that is changed for its own sake.
  std::string why_down(const std::vector<std::size_t>& group) const {
    for (std::size_t p = 0; p < existing_; ++p) {
      const Item& cause = items_[p];
      if (!cause.busy() || !cause.change || cause.change->kind == PlanChange::Kind::kInterrupt) continue;
      std::vector<std::string> direct, indirect;
      bool all = true;
      for (std::size_t i : group) {
        if (i == p) continue;
        auto way = uses_path(i, p);
        all = all && !way.empty() && moments_->before(Moments::down(i), Moments::down(p));
        if (way.size() == 2) direct.push_back(way[0]);
        if (way.size() > 2)
          indirect.push_back(fmt::format("{} uses {}", way[0], fmt::join(way.begin() + 1, way.end(), ", which uses ")));
      }
      if (!all) continue;
      if (!direct.empty())
        indirect.insert(indirect.begin(),
                        fmt::format("{} {} {}", listed(direct), direct.size() > 1 ? "use" : "uses", cause.component));
      std::string why = why_interrupted(*cause.change);
      if (indirect.empty()) return fmt::format("{} {}, and there is none to spare", cause.component, why);
      return fmt::format("{}, which {}", listed(indirect), why);
    }
    return "";
  }

  // ---- the program

  void instruction(std::initializer_list<Value> words) { program_.push_back(builder_.list(std::vector<Value>(words))); }
  static Value word(std::string_view w) { return Value::string(w); }
  Value number(std::size_t i) { return Value::integer(static_cast<i64>(i)); }

  void push(std::size_t i, const std::vector<u32>& behaviours) {
    for (u32 b : behaviours) {
      Symbol name = items_[i].type->behaviours[b].name;
      instruction({word("push"), number(i), word(name.text())});
      if (items_[i].change) items_[i].change->behaviours.emplace_back(name.text());
      pending_.insert(i);
    }
  }

  void connect(std::size_t i, const Need& n) {
    auto p = by_new_.find(std::string(n.provider.text()));
    if (p == by_new_.end()) return;
    instruction({word("con"), number(i), word(n.port.text()), number(p->second), word(n.provide.text())});
  }
  void disconnect(std::size_t i, const Need& n) {
    auto p = by_old_.find(std::string(n.provider.text()));
    if (p == by_old_.end()) return;
    instruction({word("dcon"), number(i), word(n.port.text()), number(p->second), word(n.provide.text())});
  }

  void link_orders(std::size_t i, std::string_view op) {
    for (std::size_t k = 0; k < items_[i].orders.size(); ++k) {
      const model::Order& o = items_[i].orders[k];
      instruction({word(op), number(i), word(model::order_port(k + 1).text()), number(*ordered_after(items_[i], o)),
                   word(o.provide.text())});
    }
  }

  // Providers before users: then a provider that goes down refuses whoever would come back too early.
  std::vector<std::size_t> providers_first() const {
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

  void emit() {
    auto order = providers_first();
    std::vector<std::size_t> shown;
    for (std::size_t i = existing_; i < items_.size(); ++i) instruction({word("add"), number(i)});
    for (std::size_t i = existing_; i < items_.size(); ++i)
      for (auto& n : items_[i].link) connect(i, n);
    for (std::size_t i = 0; i < items_.size(); ++i) link_orders(i, "con");
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
      if (items_[i].change) plan_.changes.push_back(*items_[i].change);
    }
    for (auto& item : items_)
      if (item.was && item.want && !item.change) ++plan_.unchanged;
    plan_.unchanged += static_cast<u32>(kept_.size());
    plan_.flat = flat();
  }

  Value flat() {
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
      std::vector<Value> places, needs;
      for (u32 p : item.at) places.push_back(Value::string(item.type->places[p].name.text()));
      m.set(Symbol("places"), builder_.list(places));
      m.set(Symbol("config"), item.want ? item.want->config : item.was->config);
      if (item.was) m.set(Symbol("old"), item.was->config);
      if (item.was && !item.was->made.is(Kind::kNull)) m.set(Symbol("made"), item.was->made);
      if (item.was && !item.was->before.is(Kind::kNull) && (!item.want || item.goal == item.kind.goal))
        m.set(Symbol("keep"), item.was->before);
      if (item.was && !item.was->stray.is(Kind::kNull)) m.set(Symbol("stray"), item.was->stray);
      if (item.was && !item.was->failed.empty() && !item.was->untouched)
        m.set(Symbol("half_made"), Value::boolean(true));
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
    for (auto& inv : wanted_.invariants) {
      std::vector<Value> of;
      for (Symbol s : inv.of) of.push_back(Value::string(s.text()));
      std::vector<Entry> one{
          {Symbol("at_least"), Field::kPlain, Value::boolean(inv.kind == model::Invariant::Kind::kAtLeast)},
          {Symbol("count"), Field::kPlain, Value::integer(inv.count)},
          {Symbol("port"), Field::kPlain, Value::string(inv.port.text())},
          {Symbol("of"), Field::kPlain, builder_.list(of)},
          {Symbol("text"), Field::kPlain, builder_.string(inv.text)}};
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
    return builder_.map(root);
  }

  Session& session_;
  const Deployment& wanted_;
  const Recorded& recorded_;
  const PlanOptions& options_;
  TreeBuilder builder_;
  std::vector<Item> items_;  // those that are there, then those to add
  std::size_t existing_ = 0;
  std::set<std::size_t> kept_;  // not looked at: they stay as they are
  std::set<std::string> replaced_;
  std::map<std::string, std::size_t> by_old_, by_new_;
  std::vector<std::shared_ptr<ComponentType>> types_;
  Value types_tree_;
  std::vector<std::pair<std::size_t, std::size_t>> turns_;  // by policies: the second one after the first
  std::optional<Moments> moments_;
  std::map<const model::Invariant*, std::string> cannot_;  // why an invariant cannot be kept
  std::vector<Value> program_;
  std::set<std::size_t> pending_;
  Plan plan_;
};

}  // namespace

std::optional<Plan> make_plan(Session& session, const Deployment& wanted, const Recorded& recorded,
                              const PlanOptions& options) {
  return Planner(session, wanted, recorded, options).make();
}

}  // namespace tutti::engine
