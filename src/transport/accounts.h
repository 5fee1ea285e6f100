// Users and groups of this machine: names to numbers and back.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"

namespace tutti {

// A number written as one, and nothing else.
std::optional<u32> account_number(std::string_view text);

struct Account {
  uid_t uid = 0;
  gid_t group = 0;          // the primary one
  std::string home, shell;  // "" of a number that has no entry
};
// By name or number; a number needs no entry.
Result<Account> account_of(const std::string& user);
Result<gid_t> group_id(const std::string& group);

// Names of users and groups. The C library reads /etc/passwd anew for every question, which is most of the cost of
// looking at many files; names are kept for the few seconds in which such looks come together.
class Names {
 public:
  std::string user(uid_t id);
  std::string group(gid_t id);

 private:
  struct Known {
    std::string name;
    std::chrono::steady_clock::time_point until;
  };
  std::string name(std::map<u32, Known>& known, u32 id, std::string (*look)(u32));
  std::mutex mutex_;
  std::map<u32, Known> users_, groups_;
};

}  // namespace tutti
