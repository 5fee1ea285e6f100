#pragma once

#include <cstddef>

namespace tutti::puppet {

extern const char* const kNativeTypes[];  // sorted by name
extern const std::size_t kNativeTypeCount;

}  // namespace tutti::puppet
