#pragma once

#include <string>
#include <string_view>

#include "tree/value.h"

// Which machine a host is, whatever a system calls it: two systems of one record, or two names in one system, may mean
// the same one, and then they share its files.
namespace tutti::deploy {

// Whether a host of that name is this machine; `described`, where it is not null, is what `hosts` says of it.
bool is_here(std::string_view name, const Value* described);

// A name for the machine that is the same for all who mean it, "" for this one. `tree` has the system's `hosts`.
std::string machine(Symbol host, const Value& tree);

}  // namespace tutti::deploy
