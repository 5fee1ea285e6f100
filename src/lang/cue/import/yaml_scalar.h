#pragma once

#include <string_view>

#include "base/types.h"

namespace tutti::cue {

enum class YamlScalar : u8 { kString, kNull, kBool, kInt, kFloat, kTimestamp, kMerge };

// What a plain (unquoted, untagged) scalar is: the core schema of YAML 1.2 and, from 1.1, underscores in numbers,
// octal numbers with a leading zero, binary ones, timestamps and the merge key. `yes` and `on` are text.
YamlScalar yaml_scalar(std::string_view plain);

}  // namespace tutti::cue
