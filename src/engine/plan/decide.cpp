#include <fmt/format.h>

#include <algorithm>

#include "engine/plan/planner.h"

namespace tutti::engine {
namespace {

// Of what was there (`former`) nothing is given back: a package whose version is another one now.
bool is_only_left(const Value& former) { return former.is(Kind::kMap) && former.size() == 1 && former.find("ensure!"); }

// "leaves file /etc/motd, which was there before it came under tutti's care"; "" where it leaves nothing.
std::string what_is_left(const RecordedComponent& was) {
  if (never_came_to_it(was)) return "";
  std::vector<std::string> things;
  auto add = [&](std::string thing) {
    if (std::size_t colon = thing.find(':'); colon != std::string::npos) thing[colon] = ' ';
    things.push_back(std::move(thing));
  };
  for (const Value& v : was.before.is(Kind::kList) ? was.before.items() : std::span<const Value>())
    if (!v.text().starts_with("exec:"))  // a step is nothing that could be left
      add(std::string(v.secret() ? "(secret)" : v.text()));
  if (was.formerly.is(Kind::kMap))
    for (const Entry& e : was.formerly.entries())
      if (is_only_left(e.value)) add(std::string(e.key.text()));
  std::size_t all = things.size();
  if (all == 0) return "";
  if (all > 3) things.resize(3), things.push_back(fmt::format("{} more", all - 3));
  if (!was.failed.empty()) return fmt::format("leaves {}, which it has not changed", fmt::join(things, ", "));
  return fmt::format("leaves {}, which {} there before it came under tutti's care", fmt::join(things, ", "),
                     all == 1 ? "was" : "were");
}

// "restores file /etc/motd, ..."; "" where nothing was there before.
std::string what_is_restored(const RecordedComponent& was) {
  if (!was.formerly.is(Kind::kMap)) return "";
  std::vector<std::string> things;
  for (const Entry& e : was.formerly.entries()) {
    if (is_only_left(e.value)) continue;
    things.emplace_back(e.key.text());
    if (std::size_t colon = things.back().find(':'); colon != std::string::npos) things.back()[colon] = ' ';
  }
  if (things.empty()) return "";
  return fmt::format("restores {} to what {} before it came under tutti's care", fmt::join(things, ", "),
                     things.size() == 1 ? "it was" : "they were");
}

// As for where it stands: "half1, in t2 of deploy".
std::string where(const Item& item) {
  std::vector<std::string_view> names;
  for (Symbol name : item.stands) names.push_back(name.text());
  return fmt::format("{}", fmt::join(names, ", "));
}

constexpr const char* kComeAnew =
    "take it out of the system once, so that it is removed as it was made, and put it in again";

constexpr const char* kDoneAgain = "what was done before is done again, because its settings are others now";

// Of one that is half way, what the word leaves to be done.
std::string what_is_left_to_do(const Item& item, const std::vector<u32>& word) {
  std::vector<std::string_view> names;
  Marking m = item.at;
  for (u32 b : word) {
    Passage p = pass(*item.type, m, b);
    for (u32 t : p.fired)
      if (const model::Transition& fired = item.type->transitions[t]; !item.type->action_of(fired).what.is(Kind::kNull))
        names.push_back(fired.name.text());
    m = p.end;
  }
  return fmt::format("half way, left to do: {}", names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", ")));
}

// That it failed, and what its type says of doing that again.
std::string why_again(const Item& item) {
  std::string why = fmt::format("`{}` failed the last time", item.was->failed);
  const Entry* all = item.kind.tree.find("transitions");
  const Entry* one = all ? all->value.find(item.was->failed) : nullptr;
  const Entry* again = one ? one->value.find("again") : nullptr;
  return again && again->value.is(Kind::kString) ? fmt::format("{}: {}", why, again->value.text()) : why;
}

bool same_need(const Need& a, const Need& b) {
  return a.port == b.port && a.provider == b.provider && a.provide == b.provide && a.hold == b.hold;
}

std::string need_path(const Need& n) { return n.hold ? fmt::format("uses.{}", n.port.text()) : "after"; }

bool same_orders(const std::vector<model::Order>& a, const std::vector<model::Order>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto& x, auto& y) {
    return x.place == y.place && x.provider == y.provider && x.provide == y.provide;
  });
}

// The ports of an item that these needs have.
std::vector<u32> ports_of(const Item& item, const std::vector<Need>& needs) {
  std::vector<u32> ports;
  for (auto& n : needs)
    if (u32 port = item.type->find_port(n.port); port != model::kNone) ports.push_back(port);
  return ports;
}

bool free_of(const Item& item, const Marking& m, const std::vector<u32>& ports) {
  return std::none_of(ports.begin(), ports.end(), [&](u32 p) { return active(*item.type, m, p); });
}

// How far the word leads until the ports are inactive; 0 where they never are.
std::size_t length_until_free(const Item& item, const std::vector<u32>& word, const std::vector<u32>& ports) {
  Marking m = item.at;
  for (std::size_t i = 0; i < word.size(); ++i) {
    m = pass(*item.type, m, word[i]).end;
    if (free_of(item, m, ports)) return i + 1;
  }
  return 0;
}

}  // namespace

bool Planner::goes_before(const Item& item, const Need& n) const {
  if (n.hold || item.kind.hold.empty() || !goes(item) || !all_orders(item).empty()) return false;
  auto p = by_old_.find(std::string(n.provider.text()));
  return p != by_old_.end() && goes(items_[p->second]) && all_orders(items_[p->second]).empty();
}

bool Planner::compile_types() {
  std::map<std::string, Value> trees;
  for (auto& item : items_) {
    std::vector<Need> ports = item.new_needs;
    for (auto& n : item.old_needs)
      if (std::none_of(ports.begin(), ports.end(), [&](auto& p) { return p.port == n.port; })) ports.push_back(n);
    for (auto& n : ports)
      n.hold = (n.hold && !item.gated.count(n.port) && !item.resting.count(n.port)) || goes_before(item, n);
    std::sort(ports.begin(), ports.end(), [](auto& a, auto& b) { return a.port.text() < b.port.text(); });
    item.type_name = model::engine_type_name(item.kind, ports, item.orders);
    if (item.was && !item.want) item.type_name += "'";  // as it was recorded, which may not be as it is now
    if (item.was && (item.was->forgotten || (item.was->found && !item.want))) item.type_name += "'";
    bool cleared = to_be_cleared(item);
    if (cleared) item.type_name += "'";
    if (!trees.count(item.type_name)) {
      Value tree = model::engine_type(item.kind, ports, item.orders, builder_);
      if (cleared) {
        MapDraft there;
        for (const Entry& e : tree.entries()) there.set(e.key, e.value, e.field);
        there.set(Symbol("initial"), Value::string(item.kind.goal.text()));
        tree = there.build(builder_);
      }
      trees[item.type_name] = tree;
    }
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
      for (Symbol name : item.stands) {
        u32 element = item.type->find_element(name.text());
        if (element == model::kNone) {
          session_.diagnostics
              .error("PLAN-PLACE", item.want ? item.want->at : Pos{},
                     fmt::format("`{}` is recorded in state `{}`, which its type no longer has", item.component,
                                 name.text()))
              .suggest(kComeAnew);
          return false;
        }
        item.at.push_back(element);
      }
    }
    std::sort(item.at.begin(), item.at.end());
  }
  return true;
}

std::optional<std::vector<u32>> Planner::path(const Item& item, const Marking& from, Symbol goal) {
  u32 place = item.type->find_place(goal);
  auto word = word_to(*item.type, from, [&](const Marking& m) { return m.size() == 1 && m[0] == place; });
  if (!word) {
    Diagnostic& error = session_.diagnostics.error(
        "PLAN-UNREACHABLE", item.want ? item.want->at : Pos{},
        fmt::format("no behaviours of `{}` ({}) lead {}to state `{}`", item.component, item.kind.name.text(),
                    item.half_way() ? fmt::format("from where it is half way (`{}`) ", where(item)) : "", goal.text()));
    if (item.half_way()) error.suggest(kComeAnew);
  }
  return word;
}

std::vector<u32> Planner::behaviours(const Item& item, const Value& names) {
  std::vector<u32> out;
  if (!names.is(Kind::kList)) return out;
  for (const Value& v : names.items()) {
    u32 b = v.is(Kind::kString) ? item.type->find_behaviour(Symbol(v.text())) : model::kNone;
    if (b == model::kNone) {
      session_.diagnostics.error(
          "PLAN-BEHAVIOUR", session_.origins.nearest(v.origin()),
          fmt::format("type `{}` has no behaviour `{}`", item.kind.name.text(), v.is(Kind::kString) ? v.text() : "?"));
      continue;
    }
    out.push_back(b);
  }
  return out;
}

void Planner::decide(Item& item) {
  if (kept_.count(index_of(item))) return;
  if (!item.was)
    decide_new(item);
  else if (!item.want)
    decide_gone(item);
  else
    decide_staying(item);
}

void Planner::decide_new(Item& item) {
  if (auto w = path(item, item.at, item.goal)) item.first = *w;
  item.link = item.new_needs;
  if (item.change) return;
  PlanChange c;
  c.kind = PlanChange::Kind::kAdd;
  c.component = item.component;
  c.type = item.want->type.text();
  c.host = item.want->host;
  c.at = item.want->at;
  if (to_be_cleared(item)) c.why = "it goes, whoever made it";
  differences(builder_.map({}), item.want->config, "config", c.details);
  item.change = std::move(c);
}

void Planner::decide_gone(Item& item) {
  if (const Component* c = wanted_.find(Symbol(item.component)); !c || !replaced_.count(item.component)) {
    PlanChange ch;
    ch.kind = PlanChange::Kind::kRemove;
    ch.component = item.component;
    ch.type = item.was->type;
    ch.host = item.was->host;
    if (item.was->found)
      ch.why = "it was there before it came under tutti's care, and is left";
    else
      for (auto& words : {what_is_restored(*item.was), what_is_left(*item.was)})
        if (!words.empty()) ch.why += (ch.why.empty() ? "" : "; ") + words;
    item.change = std::move(ch);
  }
  if (between(item)) take_as_made(item);
  if (auto w = path(item, item.at, item.goal)) item.first = *w;
  item.unlink = item.old_needs;
}

void Planner::decide_staying(Item& item) {
  Staying s{item, change_of(PlanChange::Kind::kChange, item.component, *item.want, *item.was)};
  PlanChange& change = s.change;
  std::string from = where(item);
  bool asked_away = item.goal == item.kind.removed && item.goal != item.kind.goal;
  if (asked_away && between(item) && !never_came_to_it(*item.was)) take_as_made(item);
  change_links(s);
  s.there = item.at.size() == 1 && item.at[0] == item.type->find_place(item.goal);
  s.keys = s.there ? changed_settings(*item.want, *item.was) : changed_since_tried(item);
  choose_word(s);
  if (!same_orders(item.want->orders, item.was->orders))
    change.details.push_back({"order", Value::null(), Value::null(), false});
  mend(s);
  if (item.want->protect != item.was->protect)
    change.details.push_back({"protect", Value::boolean(item.was->protect), Value::boolean(item.want->protect), false});
  change.kind = kind_of(s);
  if (!s.there && change.kind == PlanChange::Kind::kMove)
    change.details.push_back(
        {"state", from.empty() ? Value::null() : builder_.string(from), Value::string(item.goal.text()), false});
  if (auto rest = path(item, run_word(*item.type, item.at, s.word), item.goal))
    s.word.insert(s.word.end(), rest->begin(), rest->end());
  if (item.half_way()) change.why += (change.why.empty() ? "" : "; ") + what_is_left_to_do(item, s.word);
  split(item, s.word);
  if (item.busy() || !item.link.empty() || !item.unlink.empty() || !change.details.empty())
    item.change = std::move(change);
}

void Planner::change_links(Staying& s) const {
  Item& item = s.item;
  auto is_among = [&](const Need& n, const std::vector<Need>& others) {
    return std::any_of(others.begin(), others.end(), [&](auto& m) { return same_need(n, m); });
  };
  auto is_made_anew = [&](const Need& n) { return replaced_.count(std::string(n.provider.text())) != 0; };
  for (auto& n : item.old_needs)
    if (!is_among(n, item.new_needs) || is_made_anew(n)) item.unlink.push_back(n);
  for (auto& n : item.dropped)
    s.change.details.push_back({need_path(n), Value::string(n.provider.text()), Value::null(), false});
  for (auto& n : item.new_needs) {
    if (is_among(n, item.old_needs) && !is_made_anew(n)) continue;
    item.link.push_back(n);
    auto old = std::find_if(item.old_needs.begin(), item.old_needs.end(), [&](auto& m) { return m.port == n.port; });
    if (old == item.old_needs.end() || !same_need(*old, n))
      s.change.details.push_back({need_path(n),
                                  old == item.old_needs.end() ? Value::null() : Value::string(old->provider.text()),
                                  Value::string(n.provider.text()), false});
  }
}

void Planner::choose_word(Staying& s) {
  Item& item = s.item;
  // What is done and over does not run: there is nothing to restart.
  auto& hold = item.kind.hold;
  bool over = !hold.empty() && std::find(hold.begin(), hold.end(), item.kind.goal) == hold.end();
  bool restart = options_.restart && !over;
  auto old_kind = recorded_.kinds.find(item.was->type);
  bool type_changed = item.was->type == item.kind.name.text() && old_kind != recorded_.kinds.end() &&
                      !equal(old_kind->second, item.kind.tree);
  if (type_changed) s.change.details.push_back({"type's definition", Value::null(), Value::null(), false});
  const Present* now = present(item.component);
  s.anew = type_changed || (now && now->reads.is(Kind::kMap));
  s.all_of_it = s.anew || restart;
  const Entry* any = item.kind.change.find("*");
  if (s.all_of_it) {
    if (any) s.word = behaviours(item, any->value);
    return;
  }
  // All changed settings must agree on what to do; otherwise it is done as for any other setting.
  const Value* rule = nullptr;
  bool agree = true;
  for (Symbol key : s.keys) {
    const Value* r = change_rule(item.kind, key.text(), *item.want);
    if (r && r->is(Kind::kList) && r->size() == 0) continue;
    if (rule && r && !equal(*rule, *r)) agree = false;
    rule = r;
  }
  if (!agree && any) rule = &any->value;
  if (rule) s.word = behaviours(item, *rule);
}

void Planner::mend(Staying& s) {
  Item& item = s.item;
  PlanChange& change = s.change;
  bool failed = !item.was->failed.empty();
  s.drifted = s.there && options_.drift.count(item.component) != 0;
  if (s.drifted) {
    const auto& found = options_.drift.at(item.component);
    if (s.word.empty()) s.word = repair(item, found);
    if (std::any_of(found.begin(), found.end(), [](auto& d) { return d.down; })) stand_down(item, s.word);
    change.why = found[0].text + (found.size() > 1 ? fmt::format(" (and {} more)", found.size() - 1) : "");
  }
  if (s.there && s.word.empty() && failed) s.word = repair(item, {});
  if (failed) change.why = why_again(item);
  if (s.there) return;
  // On its way there it meets its new configuration anyway, but for what lies behind it.
  s.again = !s.word.empty() && !s.keys.empty() && done_otherwise(item);
  s.word = s.again ? begin_again(item, s.word) : std::vector<u32>{};
  if (s.again) change.why += (change.why.empty() ? "" : "; ") + std::string(kDoneAgain);
}

PlanChange::Kind Planner::kind_of(const Staying& s) {
  using Kind = PlanChange::Kind;
  const Item& item = s.item;
  bool nothing_said = s.change.details.empty(), same_settings = s.keys.empty() && !s.anew;
  bool links = !item.link.empty() || !item.unlink.empty() || !item.dropped.empty();
  if (!item.was->failed.empty() && (!s.there || same_settings)) return Kind::kRepair;
  if (s.drifted && nothing_said) return Kind::kRepair;
  if (!s.there && !s.again) return Kind::kMove;
  if (nothing_said && s.all_of_it) return Kind::kChange;
  return same_settings && links ? Kind::kRelink : Kind::kChange;
}

std::vector<u32> Planner::repair(const Item& item, const std::vector<Deviation>& found) {
  bool files = std::all_of(found.begin(), found.end(), [](auto& d) { return d.resource == "file"; });
  const Value* rule = files ? change_rule(item.kind, "files", *item.want) : nullptr;
  if (!rule || !rule->is(Kind::kList) || rule->size() == 0) rule = change_rule(item.kind, "*", *item.want);
  if (rule && rule->is(Kind::kList) && rule->size() > 0) return behaviours(item, *rule);
  // A type that is never changed in place goes all the way down and comes back.
  auto down = path(item, item.at, item.kind.removed);
  return down ? *down : std::vector<u32>{};
}

bool Planner::in_use(const Item& item) const {
  return std::any_of(items_.begin(), items_.end(), [&](const Item& user) {
    return user.was && std::any_of(user.old_needs.begin(), user.old_needs.end(), [&](const Need& n) {
             u32 use = user.type->find_port(n.port);
             return n.provider.text() == item.component && use != model::kNone && active(*user.type, user.at, use) &&
                    !can_rest(user, n);
           });
  });
}

void Planner::stand_down(Item& item, std::vector<u32>& word) const {
  item.down = true;
  u32 service = item.type->find_port(item.kind.service);
  if (service == model::kNone || in_use(item)) return;
  u32 place = first_without(*item.type, item.at, word, service);
  if (place == model::kNone) return;
  item.stands = {item.type->places[place].name};
  item.at = {place};
  word.clear();
}

void Planner::split(Item& item, std::vector<u32> word) {
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

}  // namespace tutti::engine
