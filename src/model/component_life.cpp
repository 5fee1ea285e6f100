#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "model/component_model.h"
#include "model/reader.h"

namespace tutti::model {
namespace {

using Names = std::vector<std::string>;

Names texts(const Value& v) {
  Names out;
  if (v.is(Kind::kString)) out.emplace_back(v.text());
  if (v.is(Kind::kList))
    for (const Value& item : v.items())
      if (item.is(Kind::kString)) out.emplace_back(item.text());
  return out;
}

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Cutter {
 public:
  Cutter(const Value& base, bool children, const TreeBuilder& builder)
      : base_(base), children_(children), builder_(builder) {}

  std::optional<Value> cut(std::string& why) {
    if (!read(why)) return std::nullopt;
    // Each operation leads from the place where the one before it ended to its own end.
    if (!chain("deploy", initial_, "deployed", true, why) || !chain("start", "deployed", goal_, true, why) ||
        !chain("stop", goal_, "stopped", false, why) || !chain("undeploy", "stopped", initial_, false, why))
      return std::nullopt;
    keep_the_rest();
    return build();
  }

 private:
  struct Step {
    Names from, to;
  };

  bool read(std::string& why) {
    const Value* transitions = Reader::find(base_, {"transitions"});
    const Value* behaviours = Reader::find(base_, {"behaviours", "behaviors"});
    const Value* places = Reader::find(base_, {"places"});
    if (!transitions || !transitions->is(Kind::kMap) || !behaviours || !behaviours->is(Kind::kMap) || !places) {
      why = "it has no transitions and behaviours by name";
      return false;
    }
    for (const Entry& e : transitions->entries()) {
      const Value* from = e.value.is(Kind::kMap) ? Reader::find(e.value, {"from", "src", "source"}) : nullptr;
      const Value* to = e.value.is(Kind::kMap) ? Reader::find(e.value, {"to", "dst"}) : nullptr;
      if (!from || !to) {
        why = fmt::format("its transition `{}` is not written as {{from, to}}", e.key.text());
        return false;
      }
      steps_[std::string(e.key.text())] = {texts(*from), texts(*to)};
    }
    for (const Entry& e : behaviours->entries()) behaviours_[std::string(e.key.text())] = texts(e.value);
    Names all = texts(*places);
    const Value* initial = Reader::find(base_, {"initial"});
    const Value* goal = Reader::find(base_, {"goal"});
    initial_ = initial && !texts(*initial).empty() ? texts(*initial)[0] : all.empty() ? "" : all[0];
    goal_ = goal && !texts(*goal).empty() ? texts(*goal)[0] : all.empty() ? "" : all.back();
    const Names &up = behaviours_["deploy"], &down = behaviours_["undeploy"];
    if (const Value* o = Reader::find(base_, {"operations"}); o && o->is(Kind::kMap)) {
      for (const Entry& e : o->entries()) operations_[std::string(e.key.text())] = texts(e.value);
    } else if (!up.empty() && !down.empty()) {
      operations_["deploy"] = Names(up.begin(), up.end() - 1);
      operations_["start"] = {up.back()};
      operations_["stop"] = {down.front()};
      operations_["undeploy"] = Names(down.begin() + 1, down.end());
    }
    for (auto& [name, list] : operations_)
      for (auto& t : list) {
        if (!steps_.count(t)) {
          why = fmt::format("its operation `{}` has a transition `{}` that is not there", name, t);
          return false;
        }
        cut_.insert(t);
      }
    return true;
  }

  void place(const std::string& name) {
    if (!has(new_places_, name)) new_places_.push_back(name);
  }
  void nothing(const std::string& op, const std::string& name, const std::string& from, const std::string& to) {
    std::vector<Entry> t{{Symbol("from"), Field::kPlain, builder_.string(from)},
                         {Symbol("to"), Field::kPlain, builder_.string(to)}};
    transitions_.set(Symbol(op + "-" + name), builder_.map(t));
    made_[op].push_back(op + "-" + name);
  }

  // What the type itself does in an operation, from one place to another.
  bool own(const std::string& op, const std::string& from, const std::string& to, std::string& why) {
    const Names& list = operations_[op];
    if (list.empty()) {
      nothing(op, "nothing", from, to);
      return true;
    }
    std::set<std::string> sources, sinks;
    for (auto& t : list) {
      sources.insert(steps_[t].from.begin(), steps_[t].from.end());
      sinks.insert(steps_[t].to.begin(), steps_[t].to.end());
    }
    Names first, last;
    std::set_difference(sources.begin(), sources.end(), sinks.begin(), sinks.end(), std::back_inserter(first));
    std::set_difference(sinks.begin(), sinks.end(), sources.begin(), sources.end(), std::back_inserter(last));
    if (first.size() != 1 || last.size() != 1) {
      why = fmt::format("its operation `{}` does not lead from one place to one other", op);
      return false;
    }
    for (auto& t : list) {
      const Value& was = Reader::find(base_, {"transitions"})->find(t)->value;
      MapDraft m;
      for (const Entry& e : was.entries()) {
        std::string_view k = e.key.text();
        if (k != "from" && k != "src" && k != "source" && k != "to" && k != "dst") m.set(e.key, e.value);
      }
      auto renamed = [&](const Names& names) {
        std::vector<Value> out;
        for (auto& n : names) {
          std::string now = n == first[0] ? from : n == last[0] ? to : n;
          place(now);
          inner_[op].push_back(now);
          out.push_back(builder_.string(now));
        }
        return out.size() == 1 ? out[0] : builder_.list(out);
      };
      m.set(Symbol("from"), renamed(steps_[t].from));
      m.set(Symbol("to"), renamed(steps_[t].to));
      transitions_.set(Symbol(t), m.build(builder_, was.origin()));
      made_[op].push_back(t);
    }
    return true;
  }

  bool chain(const std::string& op, const std::string& from, const std::string& to, bool parent_first,
             std::string& why) {
    std::string gate = op + "-gate", begun = op + "-begun", all = op + "-all", end = op + "-end";
    place(from);
    place(gate);
    nothing(op, "go", from, gate);
    inner_[op].push_back(gate);
    if (parent_first) {
      if (!own(op, gate, children_ ? begun : to, why)) return false;
      if (children_) {
        for (auto& p : {begun, all}) place(p), inner_[op].push_back(p);
        nothing(op, "gather", begun, all);
        nothing(op, "done", all, to);
      }
    } else {
      if (children_) {
        place(all), inner_[op].push_back(all);
        nothing(op, "gather", gate, all);
      }
      place(end), inner_[op].push_back(end);
      if (!own(op, children_ ? all : gate, end, why)) return false;
      nothing(op, "done", end, to);
    }
    place(to);
    std::erase(inner_[op], to);
    return true;
  }

  // Transitions that belong to no operation (alter, settle) stay with their places.
  void keep_the_rest() {
    for (auto& [name, step] : steps_) {
      if (cut_.count(name)) continue;
      for (auto* list : {&step.from, &step.to})
        for (auto& p : *list) {
          if (!has(new_places_, p)) extra_.push_back(p);
          place(p);
        }
      transitions_.set(Symbol(name), Reader::find(base_, {"transitions"})->find(name)->value);
    }
  }

  Value list(const Names& names) const {
    std::vector<Value> out;
    Names once;
    for (auto& n : names)
      if (!has(once, n)) once.push_back(n), out.push_back(builder_.string(n));
    return builder_.list(out);
  }
  static Names joined(std::initializer_list<Names> parts) {
    Names out;
    for (auto& p : parts) out.insert(out.end(), p.begin(), p.end());
    return out;
  }

  Value build() {
    MapDraft m;
    for (const Entry& e : base_.entries()) m.set(e.key, e.value, e.field);
    for (std::string_view key : {"behaviors", "provides", "operations", "extends", "groups", "stations", "dst", "src"})
      m.erase(Symbol(key));
    Names up = joined({{goal_}, extra_});  // where it is up
    Names starting = inner_["start"], stopping = inner_["stop"], undeploying = inner_["undeploy"];
    m.set(Symbol("places"), list(new_places_));
    m.set(Symbol("initial"), builder_.string(initial_));
    m.set(Symbol("goal"), builder_.string(goal_));
    m.set(Symbol("transitions"), transitions_.build(builder_));
    m.set(Symbol("hold"), list(joined({starting, up, stopping})));
    m.set(Symbol("gate"), list({"start-gate"}));
    MapDraft behaviours;
    for (auto op : kOperations) behaviours.set(Symbol(op), list(made_[std::string(op)]));
    for (auto& [name, transitions] : behaviours_)
      if (std::none_of(transitions.begin(), transitions.end(), [&](auto& t) { return cut_.count(t); }))
        behaviours.set(Symbol(name), list(transitions));
    m.set(Symbol("behaviours"), behaviours.build(builder_));
    provide(m, up, starting, undeploying);
    // Descriptions carry parameters and data beside what the class knows.
    MapDraft config;
    if (const Value* c = Reader::find(base_, {"config"}); c && c->is(Kind::kMap))
      for (const Entry& e : c->entries()) config.set(e.key, e.value);
    config.set(Symbol("..."), builder_.string("any"));
    m.set(Symbol("config"), config.build(builder_));
    change(m);
    return m.build(builder_, base_.origin());
  }

  void provide(MapDraft& m, const Names& up, const Names& starting, const Names& undeploying) {
    MapDraft ports;
    if (const Value* old = Reader::find(base_, {"provide", "provides"}); old && old->is(Kind::kMap))
      for (const Entry& e : old->entries()) {
        Names left;
        for (auto& p : texts(e.value))
          if (has(new_places_, p)) left.push_back(p);
        ports.set(e.key, left.empty() ? list(up) : list(left));
      }
    // Each port stays until the way back: whoever comes late finds it all the same.
    Names deployed = joined({{"deployed"}, starting, up});
    Names stopped = joined({{"stopped"}, undeploying, {initial_}});
    ports.set(Symbol("deployed"), list(deployed));
    ports.set(Symbol("started"), list(up));
    ports.set(Symbol("stopped"), list(stopped));
    ports.set(Symbol("undeployed"), list({initial_}));
    if (children_) {
      ports.set(Symbol("deploying"), list(joined({{"deploy-begun", "deploy-all"}, deployed})));
      ports.set(Symbol("starting"), list(joined({{"start-begun", "start-all"}, up})));
      ports.set(Symbol("stopping"), list(joined({{"stop-gate", "stop-all", "stop-end"}, stopped})));
      ports.set(Symbol("undeploying"), list(joined({undeploying, {initial_}})));
    }
    m.set(Symbol("provide"), ports.build(builder_));
  }

  // `deploy` and `undeploy` were the whole way up and down.
  void change(MapDraft& m) {
    const Value* old = Reader::find(base_, {"change"});
    if (!old || !old->is(Kind::kMap)) return;
    MapDraft out;
    for (const Entry& e : old->entries()) {
      if (!e.value.is(Kind::kList)) {
        out.set(e.key, e.value);
        continue;
      }
      Names words;
      for (auto& w : texts(e.value)) {
        if (w == "undeploy") words.emplace_back("stop");
        words.push_back(w);
        if (w == "deploy") words.emplace_back("start");
      }
      std::vector<Value> values;
      for (auto& w : words) values.push_back(builder_.string(w));
      out.set(e.key, builder_.list(values));
    }
    m.set(Symbol("change"), out.build(builder_));
  }

  static constexpr std::array<std::string_view, 4> kOperations{"deploy", "start", "stop", "undeploy"};
  const Value& base_;
  bool children_;
  const TreeBuilder& builder_;
  std::map<std::string, Step> steps_;
  std::map<std::string, Names> behaviours_, operations_;
  std::set<std::string> cut_;  // transitions that belong to an operation
  std::string initial_, goal_;
  Names new_places_, extra_;
  std::map<std::string, Names> inner_, made_;  // by operation: places on its way, transitions
  MapDraft transitions_;
};

}  // namespace

std::optional<Value> component_life(const Value& base, bool children, const TreeBuilder& builder, std::string& why) {
  return Cutter(base, children, builder).cut(why);
}

}  // namespace tutti::model
