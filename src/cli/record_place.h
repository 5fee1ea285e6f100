#pragma once

#include <string>

#include "cli/verb.h"

namespace tutti {

// The directory with state and journal that a call is about: what --state says; else the `.tutti` beside the
// configuration or above it; else the one here or above. Where there is none yet, the one to be made: here, unless the
// configuration is elsewhere, beside which whoever comes from another directory finds it again.
// `above`: it was found above the configuration (or this directory), where one may not think of it.
std::string record_directory(const Call& call, bool* above = nullptr);

}  // namespace tutti
