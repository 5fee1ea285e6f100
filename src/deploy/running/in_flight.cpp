// Actions that a dead run had begun and that have no result. First nothing of it may go on beside us; then each is
// looked at through what it was to bring about, and only what can be seen not to be done is done again. Repeating them
// all was rejected: a command without a check may be one that must not run twice.
#include <fmt/format.h>

#include <algorithm>

#include "deploy/record/record.h"
#include "deploy/running/plan_run.h"

namespace tutti::deploy {
namespace {

using engine::JournalRecord;
using Found = resource::ActionExecutor::Found;

bool refers_to(const Value& v, std::string_view component) {
  if (v.is(Kind::kString)) {
    for (const char* opening : {"${", "${'"})
      if (v.text().find(fmt::format("{}{}.", opening, component)) != std::string_view::npos) return true;
    return false;
  }
  if (v.is(Kind::kList))
    return std::any_of(v.items().begin(), v.items().end(), [&](auto& i) { return refers_to(i, component); });
  return v.is(Kind::kMap) && std::any_of(v.entries().begin(), v.entries().end(),
                                         [&](const Entry& e) { return refers_to(e.value, component); });
}

}  // namespace

void end_leftovers(const Effects& effects, const model::System& s, const JournalRecord& record, i64 run,
                   const store::Lease& lease, const RunSettings& settings) {
  Fencing fencing(effects.store, lease, settings.executor, scope_of(effects.store, lease.system));
  std::map<Symbol, std::vector<std::pair<u32, u32>>> open;
  for (auto& o : record.open) open[s.instances[o.instance].host].emplace_back(o.instance, o.transition);
  for (auto& [h, actions] : open) {
    Host* host = settings.executor.host ? settings.executor.host(h) : nullptr;
    if (!host) continue;
    // First nothing more of it may begin. A host that is not there is met again by whoever looks at it.
    if (auto raised = fencing.raise(h); !raised && !host_is_away(raised.error().code))
      settings.tell(fmt::format("{}: what the interrupted run does there cannot be kept from beginning: {}", h.text(),
                                raised.error().message));
    u32 n = resource::end_leftovers(*host, mark_of(effects.store, effects.home, run), actions);
    if (n)
      settings.tell(fmt::format("ended {} process{} that the interrupted run had left on {}", n, n == 1 ? "" : "es",
                                h.empty() ? "this machine" : h.text()));
  }
}

bool PlanRun::look_at_what_was_in_flight(StoreJournal& journal) {
  const RunSettings& settings = context_.settings;
  end_leftovers(context_.effects, system(), replay_->record, context_.run, context_.lease, settings);
  left_ = replay_->record;
  left_.open.clear();
  for (auto& o : replay_->record.open) look_at(o);
  if (!unknown_.empty() && !settings.give_up) {
    for (auto& [i, t] : unknown_) out_.ask_about(system().transition_text(i, t));
    return false;
  }
  if (!found_done_.empty()) {
    journal.ended(executor_->now(), found_done_);
    left_.results.insert(left_.results.end(), found_done_.begin(), found_done_.end());
  }
  return true;
}

void PlanRun::look_at(const JournalRecord::Started& o) {
  const RunSettings& settings = context_.settings;
  std::string name = system().transition_text(o.instance, o.transition), text;
  bool begun = replay_->begun.count({o.instance, o.transition}) > 0;
  if (begun) executor_->clear_unfinished(o.instance, o.transition);
  Failure why;
  engine::Outputs outputs;
  auto decision = settings.decisions.find(name);
  Found found;
  if (decision == settings.decisions.end()) {
    found = executor_->probe(o.instance, o.transition, begun, why, outputs);
  } else {
    found = decision->second == "done" ? Found::kDone : Found::kNotDone;
    if (found == Found::kDone) {
      outputs = executor_->taken_as_done(o.instance, o.transition);
      warn_of_outputs(o.instance, name);
    }
  }
  if (found == Found::kDone) {
    was_done(o, std::move(outputs));
    text = "was in flight and is done";
  } else if (found == Found::kNotDone && !settings.give_up) {
    text = begun ? "was in flight and is done again" : "had only looked when the run was cut off, and is done now";
  } else if (found == Found::kNotDone) {
    text = begun ? "was in flight and is not done" : "had only looked when the run was cut off, and is not done";
    if (begun) left_.open.push_back(o), unknown_.insert({o.instance, o.transition});
  } else {
    left_.open.push_back(o);
    unknown_.insert({o.instance, o.transition});
    text = "was in flight: " + why.message;
    if (host_is_away(why.code)) ++out_.unreachable;
  }
  settings.tell(fmt::format("{}  {}", name, text));
}

void PlanRun::was_done(const JournalRecord::Started& o, engine::Outputs outputs) {
  found_done_.push_back(o.ended_well());
  found_done_.back().outputs = std::move(outputs);
}

// Nobody has seen what an action printed that is said to be done. (Settings of others are put in when a plan is made:
// what is still referred to is given by actions.)
void PlanRun::warn_of_outputs(u32 instance, const std::string& action) {
  const std::string& component = plan_.program.component_of[instance];
  if (!refers_to(plan_.plan.flat, component)) return;
  context_.session.diagnostics
      .warning("RUN-OUTPUTS", {},
               fmt::format("what {} gives is not known: whoever refers to `{}` has the old values, or none", action,
                           component))
      .suggest(fmt::format("tutti apply --restart --only {} asks for them", component));
}

}  // namespace tutti::deploy
