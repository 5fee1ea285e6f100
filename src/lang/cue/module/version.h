#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"

// Versions of modules and of the language, as semver.org has them, with a `v` in front.
namespace tutti::cue {

struct Version {
  std::array<u64, 3> numbers{};
  std::string before;  // of a pre-release: alpha.0
  bool whole = true;   // all three numbers are there
  bool built = false;  // something stands behind a `+`

  std::string major() const { return "v" + std::to_string(numbers[0]); }
};

std::optional<Version> version_of(std::string_view text);
bool is_whole_version(std::string_view text);  // v1.2.3, v1.2.3-rc.1

bool operator<(const Version& a, const Version& b);
// By what the texts mean; one that is no version is before all that are.
bool is_older(std::string_view a, std::string_view b);

}  // namespace tutti::cue
