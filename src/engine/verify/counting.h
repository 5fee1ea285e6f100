#pragma once

#include "engine/verify/property.h"

namespace tutti::engine {

// Whether an invariant that counts (`always count(...) >= 250`) is kept by what the program alone says, whatever the
// order in which things happen: of every instance it is known at each point of the program where its tokens may be
// (since the last time the program waited for it), so some surely have the port and some surely do not. True is a
// proof, in time that grows with the program and not with the interleavings; false says nothing, and the search
// decides. Where actions may fail it says nothing either.
bool kept_by_counting(const model::System& system, const Property& property);

}  // namespace tutti::engine
