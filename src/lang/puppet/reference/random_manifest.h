#pragma once

#include <string>

#include "base/types.h"

namespace tutti::puppet::mu {

// A random manifest in the part of muPuppet on which it and Puppet must agree up to the order of resources: definitions
// first, then assignments before declarations at the top and in the node, no classes declared by defines (whose bodies
// Puppet evaluates later). Most are well formed; some read variables that are not set, declare things twice, leave out
// parameters, divide by zero, inherit in a circle: both sides must refuse those.
std::string random_manifest(u64 seed);

}  // namespace tutti::puppet::mu
