#include "transport/accounts.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <charconv>
#include <vector>

namespace tutti {

std::optional<u32> account_number(std::string_view text) {
  u32 n = 0;
  auto r = std::from_chars(text.data(), text.data() + text.size(), n);
  if (r.ec != std::errc{} || r.ptr != text.data() + text.size()) return std::nullopt;
  return n;
}

Result<Account> account_of(const std::string& user) {
  std::vector<char> buffer(16384);
  passwd pw{}, *found = nullptr;
  auto as_number = account_number(user);
  int error = as_number ? ::getpwuid_r(*as_number, &pw, buffer.data(), buffer.size(), &found)
                        : ::getpwnam_r(user.c_str(), &pw, buffer.data(), buffer.size(), &found);
  if (found) return Account{found->pw_uid, found->pw_gid, found->pw_dir, found->pw_shell};
  if (as_number) return Account{*as_number, *as_number, "", ""};
  return failure(fmt::format("Could not find user {}", user), error ? error : ENOENT);
}

Result<gid_t> group_id(const std::string& group) {
  if (auto n = account_number(group)) return *n;
  std::vector<char> buffer(65536);
  struct group gr {
  }, *found = nullptr;
  ::getgrnam_r(group.c_str(), &gr, buffer.data(), buffer.size(), &found);
  if (!found) return failure(fmt::format("Could not find group {}", group), ENOENT);
  return found->gr_gid;
}

std::string Names::name(std::map<u32, Known>& known, u32 id, std::string (*look)(u32)) {
  std::lock_guard lock(mutex_);
  Known& k = known[id];
  auto now = std::chrono::steady_clock::now();
  if (k.name.empty() || now > k.until) {
    k.name = look(id);
    if (k.name.empty()) k.name = std::to_string(id);
    k.until = now + std::chrono::seconds(2);
  }
  return k.name;
}

std::string Names::user(uid_t id) {
  return name(users_, id, [](u32 u) {
    char buffer[4096];
    passwd pw{}, *found = nullptr;
    return ::getpwuid_r(u, &pw, buffer, sizeof buffer, &found) == 0 && found ? std::string(found->pw_name) : "";
  });
}

std::string Names::group(gid_t id) {
  return name(groups_, id, [](u32 g) {
    char buffer[16384];
    struct group gr {
    }, *found = nullptr;
    return ::getgrgid_r(g, &gr, buffer, sizeof buffer, &found) == 0 && found ? std::string(found->gr_name) : "";
  });
}

}  // namespace tutti
