#pragma once

#include <chrono>
#include <string>

#include "base/types.h"

namespace tutti {

// Limits that hold whatever the program is in the middle of: in a library that does not ask the budget (a regular
// expression, a style sheet, a system call on a pipe that nobody writes to), and for all memory, not only that of
// arenas.
//
// In: what a call may use (base/budget.h). Out: nothing, or the end of the process with exit code 124.
//
// The budget ends a request in good order and says where; it is asked at every step, and these come a little later, as
// the last word. Time is a timer of the process whose signal writes a text that was prepared and ends it: a thread of
// its own would cost more than a small call. Memory is the kernel's limit on data, which makes `new` fail, and that is
// told as any other limit. Only for what reads: a run of actions has times of its own, and what it starts would inherit
// the limit on memory.
void end_process_after(std::chrono::milliseconds limit, const std::string& message);
void limit_process_memory(u64 bytes);
// What is said of a `new` that failed.
std::string out_of_memory();

// Room for stacks beside the data: addresses, of which little is used.
void let_reserve(u64 bytes);

// A file that is made before it gets its name, and is to go when time ends the process; "" for none any more.
void remove_at_end(const std::string& path);

}  // namespace tutti
