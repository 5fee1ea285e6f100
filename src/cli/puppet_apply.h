#pragma once

#include <optional>
#include <span>
#include <string>

#include "cli/command_line.h"

namespace tutti {

// `tutti puppet apply ...` as a call of `tutti apply` that talks and ends as `puppet apply` does; nullopt for any other
// call.
std::optional<Parsed> puppet_apply(std::span<const std::string> args);

}  // namespace tutti
