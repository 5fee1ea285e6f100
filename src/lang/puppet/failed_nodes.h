#pragma once

#include <string>
#include <vector>

namespace tutti::puppet {

// The nodes of a fleet that have no catalog, attached to the tree of those that have (Session::attach); why is in the
// diagnostics.
struct FailedNodes {
  std::vector<std::string> names;
};

}  // namespace tutti::puppet
