#pragma once

#include <map>
#include <vector>

#include "deploy/shared/other_systems.h"
#include "deploy/shared/prepared.h"
#include "deploy/shared/share.h"
#include "engine/run/runner.h"

namespace tutti::deploy {

// By instance, after a run. `acted`: on which resources its actions began to act.
std::map<u32, Share> shares_after(const Prepared& prepared, const engine::Recorded& was,
                                  const resource::Knowledge& knowledge, const std::vector<engine::ActionSpan>& actions,
                                  const Acted& acted, const resource::Scrubber& scrub, const OtherSystems& others);

}  // namespace tutti::deploy
