#pragma once

#include <optional>
#include <string_view>

#include "lang/cue/eval/context.h"

namespace tutti::cue {

// Evaluates the condition of a comprehension when it only compares and computes with whole numbers, strings and bools
// that are known already: no node is made, nothing is scheduled, no scope is kept. nullopt: evaluate it the long way.
std::optional<bool> quick_condition(Context& ctx, const Node* x);

}  // namespace tutti::cue
