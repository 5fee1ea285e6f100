// A directory for the sockets of shared connections: nobody else's, and with a short name.
//
// A socket's name may have 108 bytes, of which OpenSSH takes 17 for itself while it binds. In the project's own
// directory every project with a path of 39 bytes or more was out of reach. So sockets live where the system keeps such
// things ($XDG_RUNTIME_DIR, /run for root, /tmp), in a directory that is made for its owner alone and is checked to be
// so: whoever can put a socket there could hear all that is said to a host.
#pragma once

#include <string>

#include "base/result.h"

namespace tutti {

// The directory, made where there is none.
Result<std::string> socket_directory();
// A new name in it, unlike that of any other connection of any process; too short for no socket.
Result<std::string> new_socket_path();

}  // namespace tutti
