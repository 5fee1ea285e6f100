#pragma once

#include <string>

#include "lang/cue/load/instance.h"
#include "tree/path.h"

namespace tutti::cue {

// For people: all conjuncts of a field, each with its place, its line and how it came to the field (reference,
// definition, embedding, pattern, comprehension), what its references refer to, which default was taken; of a
// disjunction without a fitting branch the branch that came closest, and what keeps it from fitting.
std::string explain(Instance& instance, const Path& path);

}  // namespace tutti::cue
