#pragma once

#include <optional>

#include "cli/verb.h"

namespace tutti {

// A catalog with its Deferred values called, here and now, as an agent does before it applies a catalog. nullopt (and
// diagnostics) when one of them fails.
std::optional<Value> call_deferred(Call& call, const Value& catalog);

}  // namespace tutti
