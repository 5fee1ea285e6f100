#pragma once

#include "deploy/shared/other_systems.h"
#include "deploy/shared/prepared.h"

namespace tutti::deploy {

// Says of directories with `force` that go what is in them that nobody of ours has made.
void note_taken_along(Prepared& plan, const OtherSystems& others);

}  // namespace tutti::deploy
