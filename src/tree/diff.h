#pragma once

#include <string_view>
#include <vector>

#include "tree/path.h"

namespace tutti {

enum class Change : u8 {
  kAdded,
  kRemoved,
  kChanged,
  kReordered,  // the same keys in another order
};

struct Difference {
  Change change;
  Path path;            // in the tree where the value is: after, or before for what was removed
  const Value* before;  // nullptr for kAdded
  const Value* after;   // nullptr for kRemoved
};

// What makes one tree another, in the order of the second with what was removed where it stood. Maps are compared by
// key; lists by their longest common part, what is left over pair by pair. Where both sides share a body nothing is
// looked at. `ordered` reports the order of keys too. The trees must live as long as the result.
std::vector<Difference> diff(const Value& before, const Value& after, bool ordered = false);

}  // namespace tutti
