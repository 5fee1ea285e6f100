#pragma once

#include <functional>

namespace tutti {

// Runs the work on a stack that is so large that the depth limit (base/budget.h) ends a deep recursion long
// before the stack does. Its pages are taken from the system only when used.
void with_large_stack(const std::function<void()>& work);

}  // namespace tutti
