#pragma once

#include <map>
#include <string>

#include "engine/plan/recorded.h"
#include "engine/run/runner.h"
#include "resource/scrub.h"

namespace tutti::deploy {

// The assembly as the run of a program leaves it, which was not planned: there are no settings and no resources to
// speak of, only who is there, where it stands and what it uses. `failed`: instances with an action of which nobody
// knows what became of it.
engine::Recorded assembly_of(const model::System& system, const engine::Runner& runner, const resource::Scrubber& scrub,
                             std::map<u32, std::string> failed = {});

}  // namespace tutti::deploy
