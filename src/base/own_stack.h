#pragma once

#include <cstddef>
#include <functional>

namespace tutti {

// Runs the work on a stack of this size, whose pages are taken from the system only when used. False, and nothing was
// run, when the system does not give so many addresses. The work throws nothing.
bool on_stack_of(std::size_t size, const std::function<void()>& work);

}  // namespace tutti
