#pragma once

#include "cli/system/recorded_call.h"

namespace tutti {

// Runs a reconfiguration program with actions that are commands of this machine: verified first, shown while it runs,
// with an account of what is where at the end. What `tutti run` does, and `tutti apply` for a system with a program.
int apply_program(Call& call);

// What a run of a program tells while it goes on and at its end, and the exit code that says how it ended.
void tell_program(Call& call, deploy::RunSettings& settings);
int report_program(RecordedCall& here, const deploy::Outcome& outcome);

}  // namespace tutti
