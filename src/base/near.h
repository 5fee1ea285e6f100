#pragma once

#include <span>
#include <string_view>

#include "base/symbol.h"

namespace tutti {

// The candidate nearest to a name that was not found ("did you mean"), or an empty view when none is near enough:
// at most a third of its length in single-letter edits (a swap of neighbours counts as one).
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);
Symbol nearest(Symbol name, std::span<const Symbol> candidates);

}  // namespace tutti
