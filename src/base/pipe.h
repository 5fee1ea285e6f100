// Writing to descriptors. To a process that may end at any moment: a reader that has gone away is an error (EPIPE) for
// who writes, and not the end of this program. Done for the one call and the one thread, so that nothing depends on who
// has told the program to ignore SIGPIPE, and what it starts gets the signal as it came.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace tutti {

// All of it, however often the kernel takes a part; false with errno where it takes no more.
bool write_whole(int fd, std::string_view bytes);

// As write(2), but for who has gone away.
ssize_t write_unless_gone(int fd, std::string_view text);

}  // namespace tutti
