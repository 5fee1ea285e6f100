#pragma once

#include <string>

#include "base/types.h"

namespace tutti::cue {

// As Go's strconv.FormatFloat writes it: form is one of b, e, E, f, g, G, x, X; a negative precision means the fewest
// digits that read back as the same number; bits is 32 or 64.
std::string go_float(double d, char form, i64 precision, int bits = 64);

}  // namespace tutti::cue
