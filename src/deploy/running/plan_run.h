#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "deploy/running/fencing.h"
#include "deploy/running/journal.h"
#include "deploy/running/run_context.h"
#include "engine/run/runner.h"

// One planned run: from the lease, which the caller has, to the end that is written down. In the order of its members:
// the executor is told what it may do, actions that were in flight are looked at, the engine runs, and what was done is
// counted, learnt and recorded.
namespace tutti::deploy {

class PlanRun {
 public:
  // `replay`: what the journal of a run says that was cut off; nullptr for one that begins.
  PlanRun(const RunContext& context, const Prepared& plan, const Replay* replay);
  Outcome carry_out();

 private:
  using Action = std::pair<u32, u32>;  // (instance, transition)

  // ---- plan_run.cpp
  engine::RunReport go(engine::Runner& runner, StoreJournal& journal);
  Outcome end(const engine::Runner& runner, const engine::RunReport& report);

  // ---- executor_options.cpp: what the executor may do and has to know
  resource::ExecutorOptions options();
  void keep_from_purging(resource::ExecutorOptions& o) const;  // what has a resource of its own
  void remember_looks(resource::ExecutorOptions& o) const;     // of an earlier run of a catalog
  void keep_secrets(resource::ExecutorOptions& o) const;

  // ---- in_flight.cpp: actions that began and have no result
  // Looks at each; what turns out to be done goes into the journal. False where only the user can say of one: then
  // nothing is done until they do.
  bool look_at_what_was_in_flight(StoreJournal& journal);
  void look_at(const engine::JournalRecord::Started& action);
  void was_done(const engine::JournalRecord::Started& action, engine::Outputs outputs);
  void warn_of_outputs(u32 instance, const std::string& action);

  // ---- account.cpp: what was done
  void count(const engine::RunReport& report);
  void count_action(const engine::ActionSpan& action);
  void count_catalog();
  void count_failure(const engine::ActionSpan& action);

  const model::System& system() const { return plan_.program.system; }
  const model::Transition& transition(u32 i, u32 t) const { return system().type_of(i).transitions[t]; }

  RunContext context_;
  const Prepared& plan_;
  const Replay* replay_;
  engine::Recorded was_;
  resource::Knowledge knowledge_;
  resource::Scrubber before_, scrub_;  // the secrets of the state, and those of the plan
  std::string scope_;
  Fencing fencing_;
  OtherSystems others_;
  StoreJournal* journal_ = nullptr;  // while it runs
  std::unique_ptr<resource::ActionExecutor> executor_;

  engine::JournalRecord left_;  // what the engine goes on from
  std::vector<engine::ActionResult> found_done_;
  std::set<Action> unknown_;
  std::optional<std::string> lost_;  // why nothing more may be written

  struct Failed {
    u32 instance;
    std::string line, action;
  };
  std::vector<Failed> failures_;
  std::map<u32, std::string> failed_;      // instance -> the transition that failed
  std::map<u32, std::string> why_failed_;  // resources of a catalog, where failing is a result like any other
  Acted acted_;
  std::set<u32> changed_;  // instances
  std::vector<std::pair<std::string, double>> durations_;
  Outcome out_;
};

}  // namespace tutti::deploy
