#pragma once

#include <optional>
#include <span>
#include <string>

#include "cli/verb.h"

namespace tutti {

// What files want, as one tree; nullopt, and diagnostics, where something is wrong.
std::optional<Value> wanted_tree(Call& call, std::span<const std::string> files);

// Documents laid over each other, the later ones on top. There is one at least.
Value laid_over_each_other(Call& call, std::span<const Value> documents);

}  // namespace tutti
