#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deploy/planning/world.h"
#include "deploy/running/clock.h"
#include "deploy/running/outcome.h"
#include "deploy/running/program.h"
#include "deploy/running/run_settings.h"
#include "deploy/shared/forgetting.h"
#include "deploy/shared/prepared.h"
#include "engine/run/process_executor.h"
#include "resource/action_executor.h"
#include "store/seal.h"
#include "store/store.h"

// The second of the three rooms: a plan under a lease becomes a journal. Every effect goes through an interface
// (Effects), so that a test can run a plan with a store in memory, a clock of its own and actions that do nothing.
//
// What holds at every moment: the intent of an action is in the journal before the action begins, and its result is
// there before anything that depends on it begins. So after a crash an action without a result is the only thing that
// is not known, and it is looked at before anything is repeated.
//
//   running.cpp      which run is begun or taken up again, from the lease to its release
//   lease.cpp        taking a system, waiting for whoever holds it
//   run_control.h    what ends a run from outside, and keeps the lease alive
//   plan_run.h       one planned run: executor, journal, actions in flight, the account of what was done
//   program_run.h    the same of a program that is run as it is written
//   journal.h        what is written while it runs, and how that is read again
//   fencing.h        hosts let a run act only as long as it holds its system
//   forget.cpp       runs that only take something out of the record
//   standing.cpp     where things are in a run that has not ended, by its journal alone
//
// What a run leaves in the state is the next room's (recording/recording.h).
namespace tutti::deploy {

using MakePlanExecutor = std::function<std::unique_ptr<resource::ActionExecutor>(
    const engine::PlannedSystem&, resource::Knowledge&, const resource::ExecutorOptions&)>;
using MakeProgramExecutor = std::function<std::unique_ptr<engine::Executor>(const engine::ProcessExecutor::Options&)>;

// All that running does to the world.
struct Effects {
  store::Store& store;
  const store::Seal& seal;
  const Clock& clock;
  std::string home;  // the record's directory
  MakePlanExecutor plan_executor;
  MakeProgramExecutor program_executor;
};
// With the executors that act on hosts and start processes, and the machine's clock.
Effects real_effects(store::Store& store, const store::Seal& seal, const std::string& home);

// Where things are in a run that has not ended: as `resume --stop` would write it down.
struct Standing {
  engine::Recorded recorded;
  std::map<std::string, std::vector<std::string>> open;  // component -> transitions that began and have no result
  Value hosts;                                           // as its plan describes them
};

class Running {
 public:
  // `world`: what planning asks (planning/world.h), for plans that are read from the record again.
  Running(Session& session, World& world, Effects effects)
      : session_(session), world_(world), effects_(std::move(effects)) {}

  Outcome run(const Prepared& prepared, RunSettings& settings);
  // A program as it is written. Under the lock of `program.system`, journalled, and recorded like a planned one.
  Outcome run(const Program& program, RunSettings& settings);
  // Goes on with a run that did not end; or, where decisions say so of what failed in it, with a program that did (F6).
  Outcome resume(i64 run, RunSettings& settings);
  Outcome forget(const Forgetting& forgetting, RunSettings& settings);
  std::optional<Standing> standing(i64 run);

  // Takes the system from whoever holds it, and says whom; not from somebody who is seen to live.
  Result<void> break_lock(const std::string& system, const RunSettings& settings);
  // The last run of the system that did not end, 0 when there is none. (Its process is gone or its lease is over.)
  i64 unfinished(const std::string& system);

 private:
  // Takes the system, as long as the settings let it wait; a failure with kHeld says who holds it.
  Result<store::Lease> hold(const std::string& system, const RunSettings& settings);
  // Takes the system and writes down that a run begins; nullopt, and why in `out`, when that is impossible.
  std::optional<store::Lease> begin(store::RunRecord& record, const RunSettings& settings, Outcome& out);
  std::optional<Prepared> stored_plan(const store::RunRecord& record);
  std::optional<Program> stored_program(const store::RunRecord& record);
  Outcome go_on(const store::RunRecord& record, const store::Lease& lease, RunSettings& settings);
  Outcome go_on_with_program(const store::RunRecord& record, std::vector<store::Entry> entries,
                             const store::Lease& lease, RunSettings& settings);
  // Takes out of the record what the run was begun for; the same when it is taken up again.
  Outcome strike(const store::RunRecord& record, const store::Lease& lease, i64 run);

  Session& session_;
  World& world_;
  Effects effects_;
};

// The end of a run and the state it leaves, at once.
void write_end(const Effects& effects, const store::Lease& lease, i64 run, bool good, const Value& state, Outcome& out);

// Ends what a run that was cut off has left running on the hosts, after nothing more of it may begin there.
void end_leftovers(const Effects& effects, const model::System& system, const engine::JournalRecord& record, i64 run,
                   const store::Lease& lease, const RunSettings& settings);

// A failure that means that a host was not there.
bool host_is_away(int code);

}  // namespace tutti::deploy
