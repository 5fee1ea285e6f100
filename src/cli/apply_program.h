#pragma once

#include "cli/verb.h"

namespace tutti {

// Runs a reconfiguration program with actions that are commands of this machine: verified first, shown while it runs,
// with an account of what is where at the end. What `tutti run` does, and `tutti apply` for a system with a program.
int apply_program(Call& call);

}  // namespace tutti
