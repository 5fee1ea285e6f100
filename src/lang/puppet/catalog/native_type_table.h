#pragma once

#include <cstddef>

namespace tutti::puppet {

extern const char* const kNativeTypes[];  // sorted by name
extern const std::size_t kNativeTypeCount;

// The files that lines of the table were made from: XXH3 of the text. Sorted by type; written by scripts/native-types.
struct NativeTypeFile {
  const char* type;
  unsigned long long digest;
  const char* module;
};
extern const NativeTypeFile kNativeTypeFiles[];
extern const std::size_t kNativeTypeFileCount;

}  // namespace tutti::puppet
