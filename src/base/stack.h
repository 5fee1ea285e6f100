#pragma once

namespace tutti {

// The address below which a recursive function should not go on: what is left of this thread's stack then is for
// ending in good order.
const char* stack_floor();

}  // namespace tutti
