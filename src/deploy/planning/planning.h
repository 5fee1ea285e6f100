#pragma once

#include <optional>
#include <string>

#include "deploy/planning/world.h"
#include "deploy/shared/prepared.h"

// The first of the three rooms: what is wanted and what is recorded become a checked plan. Pure: the same input gives
// the same plan; whatever of the world counts comes through `World` (world.h), and nothing is changed.
//
//   planning.cpp         the order of the stages, for systems, catalogs, removals and saved plans
//   nature.cpp           whether the record under that name can be planned from at all
//   implied_order.cpp    who comes first without being asked for (a file's directory, its owner)
//   values.cpp           who was made with values of others that are others now
//   check_resources.cpp  what the actions will ask for: whether there is such a thing
//   durations.cpp        how long they will take, as learnt
//   notes_*.cpp          what people are told beside the changes themselves
//   check.cpp            the proof, and the estimate: a call of its own, because it may take long
//
// How the changes are found and put into an order is the engine's (engine/plan).
namespace tutti::deploy {

class Planning {
 public:
  Planning(Session& session, World& world) : session_(session), world_(world) {}

  // From what is recorded to `wanted`, a tree of components, of the component model, or a catalog. `system` is the
  // name that the user asks for, "" where the configuration says it. Errors are diagnostics.
  std::optional<Prepared> prepare(const Value& wanted, const std::string& system, const std::string& kind,
                                  const engine::PlanOptions& options = {});
  // Every resource of a catalog is looked at in every run, whatever is recorded: the world is what counts.
  std::optional<Prepared> prepare_catalog(const Value& wanted, const std::string& system,
                                          const resource::CatalogOptions& options);
  std::optional<Prepared> prepare_removal(const std::string& system);

  // What a run leaves to be done: components that refer to values which it has changed, brought to them, as far as the
  // run (`flat` is its plan) looked at them. nullopt when there are none; with `wrong` an error says why it cannot be
  // planned.
  std::optional<Prepared> follow_up(const std::string& system, const Value& wanted, const Value& flat, bool& wrong);

  // A plan that was saved, with what is recorded now; nullopt, and an error, where the record has moved since.
  std::optional<Prepared> take_up(Prepared saved);

  // The program, the durations and the digest of a plan that has its flat tree; false, and an error, where that is
  // damaged.
  bool complete(Prepared& plan);

 private:
  std::optional<Prepared> prepare_system(const Value& wanted, const std::string& system, const std::string& kind,
                                         const engine::PlanOptions& options);
  bool make(Prepared& p, const model::Deployment& wanted, const engine::Recorded& was,
            const engine::PlanOptions& options);

  Session& session_;
  World& world_;
  std::set<std::string> told_;  // warnings; a call may make several plans of one system
};

// The types that ship with tutti, read once per session.
Value library(Session& session);

}  // namespace tutti::deploy
