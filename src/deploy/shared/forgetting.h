#pragma once

#include <string>
#include <vector>

#include "deploy/shared/recorded_system.h"

namespace tutti::deploy {

// Components to be taken out of the record without anything being done where they are.
struct Forgetting {
  struct One {
    std::string component, type;
    Symbol host;
    std::string state;               // the places it was left in
    std::vector<std::string> held;   // "file /etc/motd": what nobody will look after any more
    std::vector<std::string> users;  // components that stay and hold one of its ports
  };
  std::string system;
  i64 serial = 0;
  Value state;  // the recorded state
  std::vector<One> components;
  std::vector<std::string> hosts;  // forgotten as a whole
};

}  // namespace tutti::deploy
