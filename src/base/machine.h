#pragma once

#include "base/types.h"

namespace tutti {

// What one request may take of this machine's memory: half of it, and at most 4 GiB. A bomb is to end in an
// error of ours and not in the hands of the kernel.
u64 machine_memory();

}  // namespace tutti
