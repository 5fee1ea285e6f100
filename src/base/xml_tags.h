#pragma once

#include <string_view>

#include "base/types.h"

namespace tutti {

// Ends the request (LIMIT-ATTRIBUTES) where a tag has more attributes than anybody writes: libxml2 compares each of
// them with all others. `first`: the place of the text's first byte.
void check_attribute_counts(std::string_view text, u32 first);

}  // namespace tutti
