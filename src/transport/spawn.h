#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace tutti {

// One child process. It is made by vfork: no copy of our memory, whatever its size, and so as fast from a large program
// as from a small one. All that the child needs is laid out before; between vfork and exec only system calls are made.
struct SpawnSpec {
  std::vector<std::string> argv;         // argv[0] with a slash, or looked for along `search`
  std::vector<std::string> environment;  // complete, "NAME=value"
  std::string search;                    // PATH to look along; "" is ours
  std::string cwd;
  bool change_user = false;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
  int umask = -1;
  int in = -1, out = -1, err = -1;  // become 0, 1, 2; -1 is /dev/null
  std::vector<int> also;            // become 3, 4, ...: a few
  bool session = false;             // a session of its own; otherwise a process group of its own
  bool dies_with_us = true;         // killed when the thread that started it ends
};

Result<pid_t> spawn(const SpawnSpec& spec);

// Takes as many descriptors as this process is allowed (up to `wanted`) and returns how many there are. What is started
// here gets the limit that there was: programs that use `select` break where theirs is above 1,024.
u64 raise_descriptor_limit(u64 wanted);

// Birth of a process in clock ticks since boot, 0 when there is no such process (a zombie counts as none).
u64 process_birth(pid_t pid);

}  // namespace tutti
