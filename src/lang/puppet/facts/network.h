#pragma once

#include <string>

#include "tree/value.h"

namespace tutti::puppet {

// The `networking` fact: interfaces with their addresses, and which of them is the way out.
Value network_facts(const TreeBuilder& build, const std::string& hostname, const std::string& domain);

}  // namespace tutti::puppet
