#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/plan/plan.h"
#include "resource/executor.h"

namespace tutti::deploy {

// One resource that a component holds, and that is not as it was left, or could not be looked at.
struct Drift {
  std::string component, type, resource;  // "file", "file /etc/motd"
  std::vector<resource::Change> changes;
  std::string problem;       // could not be looked at
  bool unreachable = false;  // because its host was not there
};

// Looks at all that is recorded; in the order of the record, without what is as it was left.
std::vector<Drift> look_for_drift(const engine::Recorded& recorded, const resource::ExecutorOptions& options);
// The same as what a plan wants to know. Resources that could not be looked at are left out.
std::map<std::string, std::vector<engine::Deviation>> deviations_of(const std::vector<Drift>& drift);

}  // namespace tutti::deploy
