#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"

namespace tutti::resource {

// Whether a text looks like a mode: `0644`, `644` or a symbolic form (`u=rw,g+w,o=`, `a+X`).
bool is_mode(std::string_view text);
// What it makes of `current`. For a directory a read bit given by number brings its search bit along. Some of those
// that look like one are none: Puppet finds that out when it comes to the file (`a=X`).
Result<u32> mode_from(std::string_view text, u32 current, bool directory);
bool mode_is_symbolic(std::string_view text);
std::string mode_text(u32 mode);  // "0644"

}  // namespace tutti::resource
