#pragma once

#include "lang/cue/eval/context.h"

namespace tutti::cue {

struct ValidateConfig {
  bool concrete = false;      // what is not concrete is an error
  bool final = false;         // required fields must be there
  bool only_regular = false;  // no definitions and hidden fields among them
  bool disallow_cycles = false;
  bool report_incomplete = false;
  bool all_errors = false;  // go on below errors
  bool every = false;       // what is only missing is told beside what is wrong
  Pos data = {};            // where data begins that must have what is asked for: told with what it lacks
};

// The errors of a finalized vertex and everything below it, or nullptr.
Bottom* validate_tree(Context& ctx, Vertex* v, const ValidateConfig& config);

}  // namespace tutti::cue
