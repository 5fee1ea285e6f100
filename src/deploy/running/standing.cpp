#include "deploy/recording/assembly.h"
#include "deploy/recording/recording.h"
#include "deploy/running/journal.h"
#include "deploy/running/running.h"
#include "engine/run/simulate.h"

namespace tutti::deploy {

// The journal is gone through again without an executor: what has a result stands where that led, and what has none is
// not begun.
std::optional<Standing> Running::standing(i64 run) {
  auto record = effects_.store.run(run);
  auto entries = effects_.store.entries(run);
  if (!record || !*record || !entries || (*record)->kind == kForgetRun) return std::nullopt;
  std::optional<Prepared> plan;
  std::optional<Program> program;
  if ((*record)->kind == kProgramRun)
    program = stored_program(**record);
  else
    plan = stored_plan(**record);
  if (!plan && !program) return std::nullopt;
  const model::System& s = plan ? plan->program.system : program->model;
  Replay replay = read_journal(s, std::move(*entries), effects_.seal);
  if (!replay.wrong.empty()) return std::nullopt;
  Standing out;
  for (auto& o : replay.record.open)
    out.open[plan ? plan->program.component_of[o.instance] : std::string(s.instances[o.instance].name.text())]
        .emplace_back(s.type_of(o.instance).transitions[o.transition].name.text());
  replay.record.open.clear();
  engine::SimulatedExecutor nothing;
  engine::Runner runner(s, nothing);
  runner.drain();
  engine::RunReport report = runner.resume(replay.record);
  if (program) {
    out.recorded = assembly_of(s, runner, resource::Scrubber(program->tree));
    return out;
  }
  out.hosts = hosts_of(plan->plan.flat);
  resource::Knowledge knowledge(plan->program);
  teach(knowledge, *plan, engine::read_recorded(plan->state), effects_.home);
  for (auto& r : replay.record.results)
    if (r.how == engine::How::kOk) knowledge.learn(r.instance, outputs_map(r.outputs));
  std::map<u32, std::string> failed;
  for (auto& [i, t] : runner.scheduler().failures()) failed[i] = s.type_of(i).transitions[t].name.text();
  resource::Scrubber scrub(plan->plan.flat);
  OtherSystems others = world_.others(plan->system);
  EndedRun ended{*plan, runner.scheduler(), report.actions, failed, replay.acted, knowledge, scrub, others};
  out.recorded = engine::read_recorded(next_state(ended, session_.arena));
  return out;
}

}  // namespace tutti::deploy
