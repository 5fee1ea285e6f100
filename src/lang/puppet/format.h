#pragma once

#include <optional>
#include <string>

#include "tree/session.h"

namespace tutti::puppet {

// The manifest in the style guide's layout, comments kept; nullopt (with diagnostics) when it does not parse.
std::optional<std::string> format_manifest(Session& session, const Source& source);

}  // namespace tutti::puppet
