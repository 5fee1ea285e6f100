#pragma once

#include <vector>

#include "deploy/recording/ended_instance.h"
#include "deploy/recording/recording.h"

namespace tutti::deploy {

// The facts about every instance of a run that has ended, by its number; those that are gone are left out of what is
// used, and have no name. `was`: what was recorded before, which the facts point into.
std::vector<EndedInstance> evidence_of(const EndedRun& run, const engine::Recorded& was, Arena& arena);

}  // namespace tutti::deploy
