#include "deploy/deployer.h"

#include "deploy/looking/taken_along.h"
#include "deploy/planning/forgetting.h"
#include "deploy/record/encode.h"
#include "deploy/record/saved_plan.h"
#include "resource/real_path.h"

namespace tutti::deploy {
namespace {

constexpr u64 kMostTemplate = u64{64} << 20;  // bytes: what is larger is no text that somebody wrote

}  // namespace

std::optional<RecordedSystem> RecordedWorld::recorded(const std::string& system) {
  return read_system(session_, record_, system);
}

OtherSystems RecordedWorld::others(const std::string& system) { return read_other_systems(session_, record_, system); }

LearntDurations RecordedWorld::durations() {
  LearntDurations out;
  if (auto learnt = record_.store->learnt())
    for (auto& [key, one] : *learnt) out[key] = {one.count, one.mean, one.deviation};
  return out;
}

std::string RecordedWorld::fingerprint(const Value& tree) { return deploy::fingerprint(tree, *record_.seal); }

Result<const Source*> RecordedWorld::template_file(const std::string& path) {
  return session_.sources->open(path, kMostTemplate);
}

std::string RecordedWorld::real_directory(const std::string& directory) {
  return resource::canonical_directory(directory);
}

std::optional<Prepared> Deployer::looked_at(std::optional<Prepared> plan) {
  if (plan && !plan->catalog) note_taken_along(*plan, world_.others(plan->system));
  return plan;
}

std::optional<Prepared> Deployer::prepare(const Value& wanted, const std::string& system, const std::string& kind,
                                          const engine::PlanOptions& options) {
  return looked_at(planning_.prepare(wanted, system, kind, options));
}

std::optional<Prepared> Deployer::prepare_catalog(const Value& wanted, const std::string& system,
                                                  const resource::CatalogOptions& options) {
  return planning_.prepare_catalog(wanted, system, options);
}

std::optional<Prepared> Deployer::prepare_removal(const std::string& system) {
  return looked_at(planning_.prepare_removal(system));
}

std::optional<Prepared> Deployer::follow_up(const std::string& system, const Value& wanted, const Value& flat,
                                            bool& wrong) {
  return looked_at(planning_.follow_up(system, wanted, flat, wrong));
}

Check Deployer::check(const Prepared& plan, u64 most_states, u32 parallel) {
  return check_plan(session_, plan, most_states, parallel);
}

std::optional<Prepared> Deployer::load(const std::string& saved, const std::string& name) {
  auto plan = read_plan(session_, saved, name, *record_.seal);
  return plan ? planning_.take_up(std::move(*plan)) : std::nullopt;
}

std::string Deployer::save(const Prepared& plan) const { return write_plan(plan, *record_.seal); }

std::optional<Forgetting> Deployer::prepare_forget(const std::string& system,
                                                   const std::vector<std::string>& components,
                                                   const std::vector<std::string>& hosts) {
  return plan_forgetting(session_, world_, system, components, hosts);
}

std::optional<engine::Recorded> Deployer::recorded(const std::string& system) {
  auto there = world_.recorded(system);
  if (!there) return std::nullopt;
  return std::move(there->recorded);
}

}  // namespace tutti::deploy
