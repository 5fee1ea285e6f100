#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deploy/looking/drift.h"
#include "deploy/looking/foresee.h"
#include "deploy/planning/check.h"
#include "deploy/planning/planning.h"
#include "deploy/record/record.h"
#include "deploy/running/running.h"

// The door to deployment for verbs and services: it puts the rooms together with a record, and decides nothing itself.
// Read README.md first, then planning/planning.h, running/running.h and recording/recording.h.
namespace tutti::deploy {

// What planning asks, answered from a record and this machine.
class RecordedWorld : public World {
 public:
  RecordedWorld(Session& session, Record& record) : session_(session), record_(record) {}
  std::optional<RecordedSystem> recorded(const std::string& system) override;
  OtherSystems others(const std::string& system) override;
  LearntDurations durations() override;
  std::string home() override { return record_.directory; }
  std::string fingerprint(const Value& tree) override;
  Result<const Source*> template_file(const std::string& path) override;
  std::string real_directory(const std::string& directory) override;

 private:
  Session& session_;
  Record& record_;
};

class Deployer {
 public:
  Deployer(Session& session, Record& record)
      : session_(session), record_(record), world_(session, record), planning_(session, world_) {}

  // ---- planning
  std::optional<Prepared> prepare(const Value& wanted, const std::string& system, const std::string& kind,
                                  const engine::PlanOptions& options = {});
  std::optional<Prepared> prepare_catalog(const Value& wanted, const std::string& system,
                                          const resource::CatalogOptions& options);
  std::optional<Prepared> prepare_removal(const std::string& system);
  std::optional<Prepared> follow_up(const std::string& system, const Value& wanted, const Value& flat, bool& wrong);
  Check check(const Prepared& plan, u64 most_states = kMostStates, u32 parallel = 0);
  // A saved plan; refused when the state has moved or anything in it was altered.
  std::optional<Prepared> load(const std::string& saved, const std::string& name);
  std::string save(const Prepared& plan) const;
  std::optional<Forgetting> prepare_forget(const std::string& system, const std::vector<std::string>& components,
                                           const std::vector<std::string>& hosts);

  // ---- running
  Outcome run(const Prepared& plan, RunSettings& settings) { return running().run(plan, settings); }
  Outcome run(const Program& program, RunSettings& settings) { return running().run(program, settings); }
  Outcome resume(i64 run, RunSettings& settings) { return running().resume(run, settings); }
  Outcome forget(const Forgetting& f, RunSettings& settings) { return running().forget(f, settings); }
  Result<void> break_lock(const std::string& system, const RunSettings& settings) {
    return running().break_lock(system, settings);
  }
  i64 unfinished(const std::string& system) { return running().unfinished(system); }
  std::optional<Standing> standing(i64 run) { return running().standing(run); }

  // ---- what is recorded, and what is there
  std::optional<RecordedSystem> system(const std::string& name) { return world_.recorded(name); }
  std::optional<engine::Recorded> recorded(const std::string& system);
  OtherSystems others(const std::string& system) { return world_.others(system); }
  std::string scope_of(const std::string& system) const { return deploy::scope_of(*record_.store, system); }

 private:
  Running running() {
    return Running(session_, world_, real_effects(*record_.store, *record_.seal, record_.directory));
  }
  // What a look at this machine's directories adds to a plan.
  std::optional<Prepared> looked_at(std::optional<Prepared> plan);

  Session& session_;
  Record& record_;
  RecordedWorld world_;
  Planning planning_;
};

}  // namespace tutti::deploy
