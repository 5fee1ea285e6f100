#pragma once

#include <string>
#include <vector>

#include "engine/plan/rename.h"

// What a plan says beside its program, for those who carry it out, record what came of it, and plan on. It is stored
// with the plan as entries of the flat tree; as with planned_instance.h both directions are in one file, so that nobody
// else spells a key.
namespace tutti::engine {

struct PlanHead {
  i64 changes = 0;                // how many there are
  Value kinds;                    // component types, whole, for the state that the run will leave; a map
  Value hosts;                    // how they are reached; a map
  Value invariants;               // a list, which build_system reads
  std::vector<std::string> only;  // components that were to be looked at; empty: all
  Renames renames;

  // The place where components of a type are up; empty where it says none.
  Symbol goal_of(const std::string& kind) const;
};

void write_head(const PlanHead& head, const TreeBuilder& builder, std::vector<Entry>& flat);
// Of a damaged tree what makes sense of it.
PlanHead read_head(const Value& flat);

}  // namespace tutti::engine
