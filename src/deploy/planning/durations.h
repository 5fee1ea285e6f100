#pragma once

#include <string>
#include <vector>

#include "engine/plan/plan.h"

namespace tutti::deploy {

// Durations are learnt under these keys, the first that is known counts: the component's own action, then with `former`
// that of the names it had before, then that of its type.
std::vector<std::string> duration_keys(const engine::PlannedSystem& plan, u32 instance, u32 transition,
                                       bool former = false);

}  // namespace tutti::deploy
