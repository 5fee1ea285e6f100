#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/host.h"

namespace tutti {

// A machine reached by the user's own OpenSSH: their configuration, agent, keys and known hosts. One connection is made
// and shared by all commands (ControlMaster).
struct SshTarget {
  std::string name;
  std::string destination;             // as given to ssh: a name from ~/.ssh/config, user@host
  std::string user, identity, config;  // -l, -i, -F
  u16 port = 0;
  std::vector<std::string> options;  // -o
  double alive = 5;                  // seconds without an answer, three times, until the host counts as lost
};

std::unique_ptr<Host> ssh(SshTarget target);

}  // namespace tutti
