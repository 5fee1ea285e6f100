#pragma once

#include <string_view>

namespace tutti::puppet {

// Puppet's versioncmp: runs of digits as numbers, runs of letters as text, `-` before `.` before the rest; a version
// that goes on is greater than one that ends, unless it goes on with something sorting low. -1, 0 or 1.
int compare_versions(std::string_view a, std::string_view b, bool ignore_trailing_zeros = false);

}  // namespace tutti::puppet
