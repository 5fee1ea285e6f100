// What a planned run has done, for whoever asked for it: what changed, what failed and why, how long things took.
#include <fmt/format.h>

#include <algorithm>

#include "deploy/planning/durations.h"
#include "deploy/running/plan_run.h"
#include "resource/catalog_result.h"

namespace tutti::deploy {

using engine::How;

void PlanRun::count(const engine::RunReport& report) {
  for (auto& [i, t] : unknown_) failed_[i] = transition(i, t).name.text();
  for (auto& a : report.actions) count_action(a);
  // Told in the order of the components, not of their ends.
  std::stable_sort(failures_.begin(), failures_.end(), [](auto& x, auto& y) { return x.instance < y.instance; });
  for (auto& f : failures_) {
    out_.failures.push_back(std::move(f.line));
    out_.actions.push_back(std::move(f.action));
  }
  count_catalog();
  out_.changed = static_cast<u32>(changed_.size());
}

void PlanRun::count_action(const engine::ActionSpan& a) {
  const model::ComponentType& type = system().type_of(a.instance);
  if (type.action_of(type.transitions[a.transition]).what.is(Kind::kNull)) return;
  resource::Effect effect = executor_->effect(a.instance, a.transition);
  if (!effect.acted.empty()) acted_[{a.instance, a.transition}].merge(effect.acted);
  if (!effect.changes.empty()) changed_.insert(a.instance);  // also where what came after it failed
  if (a.how != How::kOk) return count_failure(a);
  double took = effect.seconds;  // without waiting for a worker: how many there are the estimate knows itself
  if (!plan_.program.instances[a.instance].of_catalog() && (!replay_ || took > 0))
    for (auto& key : duration_keys(plan_.program, a.instance, a.transition)) durations_.emplace_back(key, took);
  if (!a.message.empty()) why_failed_[a.instance] = a.message;
}

void PlanRun::count_failure(const engine::ActionSpan& a) {
  failed_[a.instance] = transition(a.instance, a.transition).name.text();
  ++out_.failed;
  if (host_is_away(a.code)) ++out_.unreachable;
  // Whoever gives a run up wants it ended: what nobody knows counts as failed.
  bool cut_off = !context_.settings.give_up && (a.how == How::kLost || a.how == How::kCancelled);
  if (cut_off) out_.open = out_.unknown = true;
  std::string name = system().transition_text(a.instance, a.transition);
  failures_.push_back(
      {a.instance, fmt::format("{}: {}", name, a.message.empty() ? "failed" : a.message), cut_off ? name : ""});
}

void PlanRun::count_catalog() {
  for (u32 i = 0; i < system().instances.size(); ++i) {
    if (!plan_.program.instances[i].of_catalog()) continue;
    std::string name(system().instances[i].name.text());
    auto result = resource::CatalogResult::read(knowledge_.outputs(i));
    if (result.status != resource::CatalogResult::Status::kNone)
      out_.status[name] = resource::CatalogResult::word(result.status);
    if (result.failed()) {
      ++out_.failed;
      out_.failures.push_back(fmt::format("{}: {}", name, why_failed_[i]));
      out_.actions.emplace_back();
    }
    if (result.noop) {
      changed_.erase(i);
      ++out_.would;
    }
  }
}

}  // namespace tutti::deploy
