#pragma once

#include "lang/cue/reference/kcue.h"

namespace tutti::cue::kcue {

// A random program of the core, the same for the same seed: fields, references to every scope around them, projections
// (also from literals), embeddings, constants. Each reference has the index that CUE's lexical scoping gives the name,
// so that `source` means the same program. No literal is empty: the core has no value for a struct without fields.
TermPtr random_program(u64 seed);

}  // namespace tutti::cue::kcue
