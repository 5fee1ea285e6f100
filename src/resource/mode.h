#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"

namespace tutti::resource {

// The mode that `0644`, `644` or a symbolic form (`u=rw,g+w,o=`, `a+X`) makes of `current`. For a directory a read bit
// given by number brings its search bit along. nullopt where it is no mode.
std::optional<u32> mode_from(std::string_view text, u32 current, bool directory);
bool mode_is_symbolic(std::string_view text);
std::string mode_text(u32 mode);  // "0644"

}  // namespace tutti::resource
