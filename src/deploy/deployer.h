#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/plan/plan.h"
#include "engine/run/runner.h"
#include "model/deployment.h"
#include "resource/catalog.h"
#include "resource/executor.h"
#include "resource/scrub.h"
#include "store/seal.h"
#include "store/store.h"
#include "tree/session.h"

// Joins everything: what is wanted and what is recorded become a plan; a plan is checked, run under a lease with every
// step journalled, and what it leaves is recorded. The verbs of the command line are thin wrappers around this.
namespace tutti::deploy {

struct Forgetting;
struct Program;
struct Replay;
// The resources on which actions of a run began to act: (instance, transition) -> their keys.
using Acted = std::map<std::pair<u32, u32>, std::map<std::string, resource::Former>>;

inline constexpr std::string_view kProgramRun = "program";  // the kind of a run that was not planned
inline constexpr std::string_view kLookRun = "noop";        // of a catalog that was only compared with what is there
inline constexpr std::string_view kFollowRun = "follow";    // of one that brings others to values of the run before
inline constexpr std::string_view kRollbackRun = "rollback";
inline constexpr std::string_view kForgetRun = "forget";  // of one that only takes something out of the record

// The types that ship with tutti, read once per session.
Value library(Session& session);

// The home of a project: state, key, logs of processes. Made when first needed.
struct Place {
  std::string directory;  // .tutti
  std::unique_ptr<store::Store> store;
  std::optional<store::Seal> seal;
};
// `adopt`: a record or key that was made elsewhere is ours from now on (store::kFromElsewhere).
Result<Place> open_place(const std::string& directory, bool adopt = false);
Result<Place> no_place();  // nothing is remembered longer than this process lives

// How a copy of a file begins that held secrets (in `kept`): the rest is sealed.
inline constexpr std::string_view kSealedCopy = "tutti-sealed:";

// Whether a file is a saved plan, by how it begins.
bool is_saved_plan(std::string_view text);

// A plan with all that goes with it, as shown, saved and run.
struct Prepared {
  std::string system, kind;  // kind: apply, destroy, rollback
  i64 serial = 0;            // of the state it was made against
  std::string lineage;
  engine::Plan plan;
  Value wanted;  // the tree it was made from
  Value state;   // the recorded state
  engine::PlannedSystem program;
  std::string digest;    // of what it will do
  bool catalog = false;  // a Puppet catalog
  bool saved = false;    // read from a file, where nothing says in which configuration things were written
  std::vector<resource::Conflict> conflicts;
  std::vector<std::string> managed;  // paths of its files
  std::size_t resources = 0;
  std::vector<std::string> renewed;  // components that are brought to values of others that have changed

  // Nothing to do and nothing to write down.
  bool empty() const;
  // Hosts are to be reached in another way than is recorded.
  bool hosts_differ() const;
};

struct Check {
  double total = 0;                   // seconds, with nothing for the actions of which nobody knows
  std::vector<std::string> critical;  // "db.start", ...
  bool limited = false;               // it takes longer than its critical path: more is ready than may run at once
  u32 timed = 0, untimed = 0;         // actions of which it is known how long they take, and others
  bool reaches = false;               // the wanted state, without deadlock, as far as was looked
  bool safe = false;                  // that, and no invariant was seen broken: a proof only when `complete`
  bool complete = true;               // all interleavings were looked at
  u64 states = 0;
  std::vector<std::string> verdicts;  // "holds: at least 1 of app1, app2 up"
  std::vector<std::string> trouble;   // why it is not safe: steps that lead there
};

struct RunEvents {
  std::function<void(double seconds, std::string_view text)> line;  // progress, one line each
  std::function<void(u32 done, u32 total, u32 running, std::string_view last)> progress;
  std::function<void(std::string_view component, resource::Level, std::string_view text)> say;
  std::function<void(std::string_view component)> ended;  // an action of it has come to its end
};

struct Outcome {
  i64 run = 0;
  bool finished = false, cancelled = false, unknown = false;
  bool open = false;  // the run is left as it is, for `resume`
  u32 changed = 0, failed = 0, unreachable = 0;
  u32 would = 0;  // catalogs: what would have been changed
  double seconds = 0;
  std::vector<std::string> failures;  // "db.start: ...", one line each
  std::vector<std::string> actions;   // of each of them, "db.start" where its result is not known, else ""
  std::vector<std::string> stuck;
  std::string summary;
  std::string wrong;                          // why nothing was done: the lock, a stale plan, the store
  int wrong_code = 0;                         // store::kHeld, ...
  std::string retry;                          // programs: an action that failed for good
  std::map<std::string, std::string> status;  // catalogs: instance -> ok, failed, skipped

  bool good() const { return wrong.empty() && finished && failed == 0 && !open && !unknown; }
  void sum_up(std::string_view what, bool left_open);
  // How the engine ended; false when the right to write was `lost` on the way, so that nothing more may be recorded.
  bool take(const engine::RunReport& report, const std::optional<std::string>& lost) {
    finished = report.finished;
    cancelled = report.cancelled && !lost;
    seconds = report.total;
    if (!lost) return true;
    wrong = *lost;
    wrong_code = store::kFenced;
    return false;
  }
};

class Deployer {
 public:
  Deployer(Session& session, Place& place) : session_(session), place_(place) {}

  // Errors are diagnostics.
  std::optional<Prepared> prepare(const Value& wanted, const std::string& system, const std::string& kind,
                                  const engine::PlanOptions& options = {});
  std::optional<Prepared> prepare_catalog(const Value& wanted, const std::string& system,
                                          const resource::CatalogOptions& options);
  std::optional<Prepared> prepare_removal(const std::string& system);
  // A saved plan; refused when the state has moved or anything in it was altered.
  std::optional<Prepared> load(const std::string& saved, const std::string& name);
  std::string save(const Prepared& prepared) const;

  // `parallel`: as many actions at once as the user asks for; 0: as many as make sense.
  // At most so many states of a plan are looked at, where counting does not prove what must hold.
  static constexpr u64 kMostStates = 300'000;
  Check check(const Prepared& prepared, u64 most_states = kMostStates, u32 parallel = 0);

  // What a run leaves to be done: components that refer to values which it has changed, brought to them, as far as the
  // run (`flat` is its plan) looked at them. nullopt when there are none; with `wrong` an error says why it cannot be
  // planned.
  std::optional<Prepared> follow_up(const std::string& system, const Value& wanted, const Value& flat, bool& wrong);

  // Runs it. `stop` is raised from outside to end it early.
  struct RunSettings {
    u32 parallel = 0;
    double lease = 30;
    double wait_for_lock = 0;                      // seconds
    bool break_lock = false;                       // resume: take the system from whoever holds it, unless they live
    std::string command;                           // who says it, for the lock
    std::map<std::string, std::string> decisions;  // resume: "component/transition" -> "done" or "repeat"
    RunEvents events;
    resource::ExecutorOptions executor;  // host, locate, managed
    // Gets the function that ends the run early: what runs is let come to its end, or with `now` ended too. The run
    // stays open for `resume`.
    std::function<void(std::function<void(bool now)> stop)> on_stop;
    bool give_up = false;  // resume: start nothing, write down how things are and end the run
    std::function<std::unique_ptr<engine::RunListener>(const model::System&)> listener;  // shows what runs
    // Programs: limits, and who looks at the run when it has come to its end.
    u32 parallel_per_host = 0;
    double grace = 10;  // seconds between asking an action to stop and killing it
    std::function<void(const model::System&, const engine::Runner&, const engine::RunReport&)> ended;
  };
  Outcome run(const Prepared& prepared, RunSettings& settings);
  // A program as it is written. Under the lock of `program.system`, journalled, and recorded like a planned one.
  Outcome run(const Program& program, RunSettings& settings);
  // Goes on with a run that did not end; or, where decisions say so of what failed in it, with a program that did (F6).
  Outcome resume(i64 run, RunSettings& settings);
  // Takes the system from whoever holds it, and says whom; not from somebody who is seen to live.
  Result<void> break_lock(const std::string& system, const RunSettings& settings);
  // Components, and all that is on these hosts, to be taken out of the record; nullopt, and an error, for names that
  // are not there and for what is protected. Nothing is done where they are: see deploy/forget.h.
  std::optional<Forgetting> prepare_forget(const std::string& system, const std::vector<std::string>& components,
                                           const std::vector<std::string>& hosts);
  Outcome forget(const Forgetting& forgetting, RunSettings& settings);
  // The last run of the system that did not end, 0 when there is none. (Its process is gone or its lease is over.)
  i64 unfinished(const std::string& system);

  std::optional<engine::Recorded> recorded(const std::string& system, i64* serial = nullptr,
                                           std::string* lineage = nullptr, Value* tree = nullptr);

  // Where things are in a run that has not ended, by its journal alone: as `resume --stop` would write it down.
  struct Standing {
    engine::Recorded recorded;
    std::map<std::string, std::vector<std::string>> open;  // component -> transitions that began and have no result
    Value hosts;                                           // as its plan describes them
  };
  std::optional<Standing> standing(i64 run);

  // What is really there: the resources that components hold, looked at.
  struct Drift {
    std::string component, type, resource;  // "file", "file /etc/motd"
    std::vector<resource::Change> changes;
    std::string problem;       // could not be looked at
    bool unreachable = false;  // because its host was not there
  };
  // Under which a system's processes are kept on any host: projects and systems may have some of the same name.
  std::string scope_of(const std::string& system) const;
  std::vector<Drift> drift(const engine::Recorded& recorded, const resource::ExecutorOptions& options);
  // The same as what a plan wants to know. Resources that could not be looked at are left out.
  static std::map<std::string, std::vector<engine::Deviation>> deviations(const std::vector<Drift>& drift);

 private:
  // Takes the system, as long as the settings let it wait; a failure with kHeld says who holds it.
  Result<store::Lease> hold(const std::string& system, const RunSettings& settings);
  // Takes the system and writes down that a run begins; nullopt, and why in `out`, when that is impossible.
  std::optional<store::Lease> begin(store::RunRecord& record, const RunSettings& settings, Outcome& out);
  std::optional<Prepared> as_prepared(const store::RunRecord& record);
  Outcome execute(const Prepared& prepared, RunSettings& settings, const store::Lease& lease, i64 run,
                  const Replay* replay);
  Outcome execute(const Program& program, RunSettings& settings, const store::Lease& lease, i64 run,
                  const engine::JournalRecord* record);
  // The end of a run and the state it leaves, at once.
  void write_end(const store::Lease& lease, i64 run, bool good, const Value& state, Outcome& out);
  // Takes out of the record what the run was begun for; the same when it is taken up again.
  Outcome strike(const store::RunRecord& record, const store::Lease& lease, i64 run);
  // How what a run starts is marked: unlike any other run, also of other projects on the same machine.
  std::string mark_of(i64 run) const;
  void end_leftovers(const model::System& system, const engine::JournalRecord& record, i64 run,
                     const store::Lease& lease, const RunSettings& settings) const;
  // What is recorded of the instances of a plan, for whoever refers to it.
  void teach(resource::Knowledge& knowledge, const Prepared& prepared, const engine::Recorded& was) const;
  // The components of a plan that were made with values which are others now.
  std::map<std::string, engine::Present> present(const Prepared& prepared, const engine::Recorded& was);
  // Says which components that the plan leaves alone refer to what it may change.
  void note_may_change(Prepared& prepared, const engine::Recorded& was);
  // How the actions of a run went: what failed in which transition, and on what they began to act at all.
  struct Fate {
    std::map<u32, std::string> failed;
    Acted acted;
  };
  Value next_state(const Prepared& prepared, const engine::Runner& runner, const resource::Knowledge& knowledge,
                   const std::vector<engine::ActionSpan>& actions, const Fate& fate, const resource::Scrubber& scrub);
  void set_durations(engine::PlannedSystem& program);
  bool finish_preparing(Prepared& p);
  bool check_steps(const Value& wanted);
  bool check_resources(const model::Deployment& wanted, const engine::PlannedSystem& program);
  void check_quoting(const model::Component& c, const resource::Resource& r, const std::string& wrong, bool mild,
                     std::set<std::string>& said);
  // Gives components other names in what the plan starts from, which is the state that its run is begun with.
  void rename(Prepared& prepared, const engine::Renames& renames, engine::Recorded& was);
  // Says of components that change which of their files they lose.
  void note_let_go(Prepared& prepared, const engine::Recorded& was);
  // Says of components that go what they leave because another system has it, too, and warns where two of them have the
  // same file.
  void note_elsewhere(Prepared& prepared, const engine::Recorded& was);
  // Of directories with `force` that go what is in them that nobody of ours has made.
  void note_taken_along(Prepared& prepared, const engine::Recorded& was);
  // Says of each change whether any action of it does something, and of what goes what its actions are.
  void note_actions(Prepared& prepared, const engine::Recorded& was);
  // False, and an error, where what is recorded under that name is not of the same nature as what is to come.
  enum class Nature : u8 { kSystem, kCatalog, kNothing };
  bool planned(const std::string& system, const engine::Recorded& was, Nature next);
  void fail(std::string code, const Failure& f) { session_.diagnostics.error(std::move(code), {}, f.message); }

  Session& session_;
  Place& place_;
  std::set<std::string> claims_told_;
};

// Durations are learnt under these keys, the first that is known counts; then also those of `former` names.
std::vector<std::string> duration_keys(const engine::PlannedSystem& plan, u32 instance, u32 transition,
                                       bool former = false);

}  // namespace tutti::deploy
