#pragma once

#include <string>

#include "base/types.h"

namespace tutti::smartfrog::reference {

struct RandomSpec {
  u64 seed = 1;
  u32 statements = 30;     // about so many assignments
  u32 errors_percent = 2;  // of references and placements that lead nowhere, or to the wrong kind of thing
  bool merge = false;      // with merge( )
};

// The text of a random core specification: prototypes in any order, self and ancestor prototypes, links, placements. As
// in the paper, references are mostly drawn from what exists at that point, so that most specifications are valid. The
// same seed gives the same text.
std::string random_spec(const RandomSpec& options);

}  // namespace tutti::smartfrog::reference
