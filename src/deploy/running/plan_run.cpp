#include "deploy/running/plan_run.h"

#include <fmt/format.h>

#include "deploy/record/record.h"
#include "deploy/recording/recording.h"
#include "deploy/running/narrator.h"
#include "deploy/running/run_control.h"

namespace tutti::deploy {

std::string RunContext::mark() const {
  return fmt::format("{}.{}", mark_of(effects.store, effects.home, run), lease.fence);
}

PlanRun::PlanRun(const RunContext& context, const Prepared& plan, const Replay* replay)
    : context_(context),
      plan_(plan),
      replay_(replay),
      was_(engine::read_recorded(plan.state)),
      knowledge_(plan.program),
      before_(plan.state),
      scrub_(plan.plan.flat),
      scope_(scope_of(context.effects.store, plan.system)),
      fencing_(context.effects.store, context.lease, context.settings.executor, scope_),
      others_(context.world.others(plan.system)) {
  out_.run = context.run;
  teach(knowledge_, plan, was_, context.effects.home);
  knowledge_.set_home(context.settings.executor.home, context.settings.executor.remote_home);
  if (!replay) return;
  acted_ = replay->acted;
  changed_ = replay->touched;
  for (auto& r : replay->record.results)
    if (r.how == engine::How::kOk) knowledge_.learn(r.instance, outputs_map(r.outputs));
}

Outcome PlanRun::carry_out() {
  const RunSettings& settings = context_.settings;
  const Effects& effects = context_.effects;
  executor_ = effects.plan_executor(plan_.program, knowledge_, options());
  StoreJournal journal(
      effects.store, context_.lease, context_.run, system(), {effects.seal, scrub_},
      [this](u32 i, u32 t) { return executor_->effect(i, t).changes; }, effects.clock);
  journal_ = &journal;
  journal.flush = [find = settings.executor.host](Symbol name) {
    Host* host = find ? find(name) : nullptr;
    return host ? host->flush() : Result<void>{};
  };
  auto live = settings.listener ? settings.listener(system()) : nullptr;
  Narrator narrator(system(), settings.events, live.get());
  engine::RunOptions how;
  // Else each host has its own limit, which the executor knows.
  how.parallel = settings.parallel ? resource::workers(settings.parallel) : 0;
  how.on_failure = engine::OnFailure::kStop;
  engine::Runner runner(system(), *executor_, how, &journal, &narrator);
  if (settings.give_up) runner.drain();
  engine::RunReport report = go(runner, journal);
  live.reset();
  if (out_.unknown && !out_.failures.empty()) return out_;  // nothing was done: the user is asked first
  if (!out_.take(report, lost_)) return out_;
  return end(runner, report);
}

engine::RunReport PlanRun::go(engine::Runner& runner, StoreJournal& journal) {
  RunControl control(
      context_.effects.store, context_.lease, context_.effects.clock, runner, [this] { executor_->wake(); },
      [this] { executor_->stop_all(); });
  journal.on_broken = [&](const Failure& f) { control.lost(f); };
  StopHere stop_here(context_.settings.on_stop, control);
  engine::RunReport report;
  if (!replay_)
    report = runner.run();
  else if (look_at_what_was_in_flight(journal))
    report = runner.resume(left_);
  lost_ = control.lost();
  return report;
}

Outcome PlanRun::end(const engine::Runner& runner, const engine::RunReport& report) {
  const Effects& effects = context_.effects;
  count(report);
  if (!report.finished) out_.stuck = report.stuck;
  [[maybe_unused]] auto learnt = effects.store.learn(durations_);
  out_.sum_up("changed", report.cancelled && !report.finished && !context_.settings.give_up);
  if (out_.open) return out_;
  EndedRun ended{plan_, runner.scheduler(), report.actions, failed_, acted_, knowledge_, scrub_, others_};
  Value state = only_looks(plan_.program) ? plan_.state : next_state(ended, context_.session.arena);
  write_end(effects, context_.lease, context_.run, report.finished && out_.failed == 0, state, out_);
  return out_;
}

}  // namespace tutti::deploy
