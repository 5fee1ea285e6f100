#pragma once

#include <string>

#include "cli/verb.h"

namespace tutti {

// The directory with state and journal that a call is about: what --state says; else the `.tutti` beside the
// configuration or above it; else the one here or above. Where there is none yet, the one to be made: here, unless the
// configuration is elsewhere, beside which whoever comes from another directory finds it again.
// `above`: it was found above the configuration (or this directory), where one may not think of it.
std::string record_directory(const Call& call, bool* above = nullptr);

// Where relative names of commands start, whoever calls from wherever: what a record is about lies beside it. One that
// --state keeps elsewhere is about the configuration's directory, which it remembers for verbs that are given none.
std::string project_directory(const Call& call, const std::string& record);
void remember_project(const Call& call, const std::string& record);

}  // namespace tutti
