#pragma once

#include <string_view>
#include <vector>

#include "lang/cue/eval/node.h"

namespace tutti::cue {

// One operand of a conjunction as it is shown: a predeclared type, or a constraint as it is.
struct ConstraintTerm {
  std::string_view type;  // "" for a constraint
  Node* constraint = nullptr;
  bool bound = false;  // one of the two ends of a range
};

// What a conjunction says in as few words as possible: `int & >=0 & <=255` is uint8, `int & >=1 & <10` is
// `uint & >=1 & <10`. With `shorten` off only the order is made: types first, then values, bounds and the rest.
std::vector<ConstraintTerm> constraint_terms(std::span<Node* const> values, bool shorten);

// The predeclared type that says all of it: `int & >=0 & <=255` is uint8. "" where none does.
std::string_view named_range(std::span<Node* const> values);

// In that order; what is equal in it as it was written.
bool constraint_before(const Node* a, const Node* b);

}  // namespace tutti::cue
