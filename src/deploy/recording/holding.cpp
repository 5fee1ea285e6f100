#include "deploy/recording/holding.h"

#include <algorithm>

namespace tutti::deploy {
namespace {

constexpr std::string_view kChecks[] = {"creates", "unless", "onlyif"};

bool is_same_check(const Value& a, const Value& b) {
  return std::all_of(std::begin(kChecks), std::end(kChecks), [&](auto name) {
    const Entry *x = a.find(name), *y = b.find(name);
    return x && y ? equal(x->value, y->value) : x == y;
  });
}

bool is_command(std::string_view key) { return key.starts_with("exec/"); }

Value with_parameters(const Value& held, const Value& parameters, const TreeBuilder& b) {
  MapDraft m;
  for (const Entry& e : held.entries()) m.set(e.key, e.value);
  m.set(Symbol("parameters"), parameters);
  return m.build(b);
}

}  // namespace

bool has_check(const resource::Resource& r) {
  resource::Params p(r.parameters);
  return std::any_of(std::begin(kChecks), std::end(kChecks), [&](auto name) { return p.has(name); });
}

void Holding::start(HeldResources recorded, const model::ComponentType& type, const model::Marking& began) {
  all_ = std::move(recorded);
  // Somebody who began half way has left the initial place before: kNone stands for that.
  if (std::any_of(began.begin(), began.end(), [&](u32 e) { return !type.is_place(e); })) begun_.insert(model::kNone);
}

void Holding::ended(const model::ComponentType& type, u32 transition) {
  if (type.initial != model::Marking{type.transitions[transition].source}) return;
  came_anew_ = true;
  if (begun_.empty() || begun_.count(transition)) all_.clear(), begun_.clear();
  begun_.insert(transition);
}

void Holding::about(const resource::Resource& r, const Value& as_recorded) {
  std::string key = resource::key_of(r);
  if (r.let_go) all_.erase(key);
  bool reload = r.type == "process" && resource::Params(r.parameters).text("ensure") == "reloaded";
  if (r.let_go || r.type == "wait" || reload || (r.type == "exec" && !has_check(r))) return;
  all_[key] = as_recorded;
  done_.insert(key);
}

bool Holding::was_asked(const Value& parameters) const {
  return std::any_of(all_.begin(), all_.end(), [&](auto& h) {
    return is_command(h.first) && done_.count(h.first) && is_same_check(h.second.find("parameters")->value, parameters);
  });
}

void Holding::renew_checks(const std::map<std::string, Value>& meant, const TreeBuilder& b) {
  for (auto it = all_.begin(); it != all_.end();) {
    auto now = meant.find(it->first);
    if (!is_command(it->first) || done_.count(it->first)) {
      ++it;
    } else if (now == meant.end() || was_asked(now->second)) {
      it = all_.erase(it);
    } else {
      it->second = with_parameters(it->second, now->second, b);
      ++it;
    }
  }
}

}  // namespace tutti::deploy
