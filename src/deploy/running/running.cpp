#include "deploy/running/running.h"

#include <fmt/format.h>

#include <cerrno>

#include "deploy/planning/planning.h"
#include "deploy/record/encode.h"
#include "deploy/record/format.h"
#include "deploy/running/decisions.h"
#include "deploy/running/journal.h"
#include "deploy/running/plan_run.h"
#include "deploy/running/program_run.h"
#include "resource/executor.h"

namespace tutti::deploy {
namespace {

constexpr std::size_t kLastRuns = 20;  // among which one that did not end is looked for

// Lets go of a system whatever comes of the run.
class Release {
 public:
  Release(store::Store& store, const store::Lease& lease) : store_(store), lease_(lease) {}
  ~Release() { [[maybe_unused]] auto released = store_.release(lease_); }
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;

 private:
  store::Store& store_;
  const store::Lease& lease_;
};

Outcome refused(const Failure& why) {
  Outcome out;
  return out.refuse(why);
}

}  // namespace

Effects real_effects(store::Store& store, const store::Seal& seal, const std::string& home) {
  return {store,
          seal,
          real_clock(),
          home,
          [](auto& plan, auto& knowledge, auto& options) -> std::unique_ptr<resource::ActionExecutor> {
            return std::make_unique<resource::ResourceExecutor>(plan, knowledge, options);
          },
          [](auto& options) -> std::unique_ptr<engine::Executor> {
            return std::make_unique<engine::ProcessExecutor>(options);
          }};
}

bool host_is_away(int code) { return code == EHOSTUNREACH || code == ECONNRESET; }

void write_end(const Effects& effects, const store::Lease& lease, i64 run, bool good, const Value& state,
               Outcome& out) {
  std::string status = good ? "done" : out.cancelled ? "interrupted" : "failed";
  auto written = effects.store.finish(lease, run, status, out.summary, encode(state, effects.seal));
  if (written) return;
  out.refuse(written.error());
  out.open = true;
}

i64 Running::unfinished(const std::string& system) {
  auto runs = effects_.store.runs(system, kLastRuns);
  if (!runs) {
    session_.diagnostics.error("STATE-READ", {}, runs.error().message);
    return 0;
  }
  for (auto& r : *runs)
    if (r.status == "running" || r.damaged) return r.id;  // of what cannot be read nobody can say that it has ended
  return 0;
}

std::optional<store::Lease> Running::begin(store::RunRecord& record, const RunSettings& settings, Outcome& out) {
  store::Holder me = store::this_process(settings.command);
  auto lease = hold(record.system, settings);
  if (!lease) {
    out.refuse(lease.error());
    return std::nullopt;
  }
  record.started = effects_.clock.wall();
  record.who = me.user + "@" + me.host;
  auto id = effects_.store.begin(*lease, record);
  if (!id) {
    [[maybe_unused]] auto released = effects_.store.release(*lease);
    out.refuse(id.error());
    return std::nullopt;
  }
  out.run = *id;
  return *lease;
}

Outcome Running::run(const Prepared& prepared, RunSettings& settings) {
  Outcome out;
  store::RunRecord record;
  record.system = prepared.system;
  record.kind = only_looks(prepared.program) ? kLookRun : std::string_view(prepared.kind);
  record.base_serial = prepared.serial;
  record.base_state = encode(prepared.state, effects_.seal);
  record.plan = encode_for_run(prepared.plan.flat, effects_.seal);
  record.wanted = encode_for_run(prepared.wanted, effects_.seal);
  auto lease = begin(record, settings, out);
  if (!lease) return out;
  Release release(effects_.store, *lease);
  return PlanRun({session_, world_, effects_, settings, *lease, out.run}, prepared, nullptr).carry_out();
}

Outcome Running::run(const Program& program, RunSettings& settings) {
  Outcome out;
  auto there = world_.recorded(program.system);
  if (!there) return refused({"the recorded state cannot be read", 0});
  const engine::Recorded& was = there->recorded;
  if (!was.program && !was.components.empty())
    return refused({fmt::format("`{}` is a system that is planned; a program of its own needs another name (--system)",
                                program.system),
                    0});
  store::RunRecord record;
  record.system = program.system;
  record.kind = kProgramRun;
  record.base_serial = there->serial;
  record.base_state = encode(there->state, effects_.seal);
  record.plan = record.wanted = encode_for_run(program.stored(TreeBuilder(session_.arena)), effects_.seal);
  auto lease = begin(record, settings, out);
  if (!lease) return out;
  Release release(effects_.store, *lease);
  return ProgramRun({session_, world_, effects_, settings, *lease, out.run}, program, nullptr).carry_out();
}

Outcome Running::resume(i64 run, RunSettings& settings) {
  auto record = effects_.store.run(run);
  if (!record) return refused({record.error().message, 0});
  if (!*record) return refused({fmt::format("there is no run {}", run), 0});
  if ((*record)->damaged)
    return refused(
        {fmt::format("what was stored of run {} is damaged: it is not what was written", run), store::kDamaged});
  bool ended = (*record)->status != "running";
  if (ended && ((*record)->kind != kProgramRun || settings.decisions.empty()))
    return refused({fmt::format("run {} has ended already: {}", run, (*record)->status), 0});
  auto lease = hold((*record)->system, settings);
  if (!lease) return refused(lease.error());
  Release release(effects_.store, *lease);
  // Read again now that nobody else can write.
  record = effects_.store.run(run);
  if (!record || !*record || (!ended && (*record)->status != "running"))
    return refused({fmt::format("run {} has just been ended by somebody else", run), 0});
  return go_on(**record, *lease, settings);
}

Outcome Running::go_on(const store::RunRecord& record, const store::Lease& lease, RunSettings& settings) {
  auto entries = effects_.store.entries(record.id);
  if (!entries) return refused({entries.error().message, 0});
  if (record.kind == kForgetRun) return strike(record, lease, record.id);
  if (record.kind == kProgramRun) return go_on_with_program(record, std::move(*entries), lease, settings);
  auto plan = stored_plan(record);
  if (!plan) return refused({"what was stored of the run cannot be read", 0});
  Replay replay = read_journal(plan->program.system, std::move(*entries), effects_.seal);
  if (!replay.wrong.empty()) return refused({replay.wrong, 0});
  if (auto why = settle_decisions(plan->program.system, replay.record.open, {}, settings.decisions); !why.empty())
    return refused({why, 0});
  return PlanRun({session_, world_, effects_, settings, lease, record.id}, *plan, &replay).carry_out();
}

Outcome Running::go_on_with_program(const store::RunRecord& record, std::vector<store::Entry> entries,
                                    const store::Lease& lease, RunSettings& settings) {
  auto program = stored_program(record);
  if (!program) return refused({"what was stored of the run cannot be read", 0});
  const model::System& system = program->model;
  Replay replay = read_journal(system, std::move(entries), effects_.seal);
  if (!replay.wrong.empty()) return refused({replay.wrong, 0});
  auto failed = failed_tokens(system, replay.record);
  if (auto why = settle_decisions(system, replay.record.open, failed, settings.decisions); !why.empty())
    return refused({why, 0});
  for (auto& f : failed)
    if (settings.decisions.count(system.transition_text(f.instance, f.transition))) replay.record.again.push_back(f);
  if (record.status != "running") {
    if (replay.record.again.empty() && replay.record.open.empty())
      return refused({fmt::format("run {} has ended already, and nothing of that failed in it", record.id), 0});
    if (auto r = effects_.store.reopen(lease, record.id); !r) return refused(r.error());
  }
  return ProgramRun({session_, world_, effects_, settings, lease, record.id}, *program, &replay.record).carry_out();
}

std::optional<Prepared> Running::stored_plan(const store::RunRecord& record) {
  Prepared p;
  p.system = record.system;
  p.kind = record.kind;
  p.serial = record.base_serial;
  auto flat = decode(session_, "plan of the run", record.plan, effects_.seal);
  auto state = decode(session_, "state before the run", record.base_state, effects_.seal);
  auto wanted = decode(session_, "wanted system", record.wanted, effects_.seal);
  if (!flat || !state || !wanted || !is_readable_state(session_, "the state before the run", *state))
    return std::nullopt;
  p.plan.flat = *flat;
  p.state = *state;
  p.wanted = *wanted;
  if (!Planning(session_, world_).complete(p)) return std::nullopt;
  return p;
}

std::optional<Program> Running::stored_program(const store::RunRecord& record) {
  auto stored = decode(session_, "program of the run", record.plan, effects_.seal);
  auto program = stored ? Program::restored(session_, *stored) : std::nullopt;
  if (program) program->system = record.system;
  return program;
}

}  // namespace tutti::deploy
