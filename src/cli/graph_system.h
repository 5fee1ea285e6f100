#pragma once

#include "cli/verb.h"

namespace tutti {

// The part of `tutti graph` that draws systems: assembly, nets, dependencies, summary. False when `type` is none of
// them.
bool draws_system(std::string_view type);
int graph_system(Call& call, std::string_view type, std::string_view output);

}  // namespace tutti
