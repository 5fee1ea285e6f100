#pragma once

#include <map>
#include <string>
#include <vector>

#include "deploy/running/journal.h"
#include "deploy/running/run_context.h"

// One run of a program as it is written. What differs from a planned one (plan_run.h): actions are processes of this
// machine, and one that was in flight can be looked at only where it says how (`check`).
namespace tutti::deploy {

class ProgramRun {
 public:
  // `record`: what the journal of a run says that was cut off, or in which something failed; nullptr for one that
  // begins.
  ProgramRun(const RunContext& context, const Program& program, const engine::JournalRecord* record);
  Outcome carry_out();

 private:
  // Looks at what was in flight, and at what is said of it. False where only the user can say.
  bool take_up();
  void take_up(const engine::JournalRecord::Started& action);
  void take_up_failed(const engine::JournalRecord::Started& action);
  engine::RunReport go(engine::Runner& runner, engine::Executor& executor, StoreJournal& journal);
  engine::ProcessExecutor::Options executor_options() const;
  Outcome end(const engine::Runner& runner, const engine::RunReport& report);
  void count(const engine::RunReport& report);

  const model::System& system() const { return program_.model; }

  RunContext context_;
  const Program& program_;
  const engine::JournalRecord* record_;
  resource::Scrubber scrub_;
  engine::JournalRecord left_;                    // what the engine goes on from
  std::vector<engine::ActionResult> found_done_;  // as the user says
  std::map<u32, std::string> unknown_;            // instance -> the transition whose result nobody knows
  std::optional<std::string> lost_;               // why nothing more may be written
  Outcome out_;
};

}  // namespace tutti::deploy
