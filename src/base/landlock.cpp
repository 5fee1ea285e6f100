#include "base/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tutti {
namespace {

// Of each version of the interface: how many rights of files there are.
constexpr int kRightsOf[] = {0, 13, 14, 15, 15, 16, 16, 16};
constexpr u64 kOfFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |
                         (u64{1} << 14) | (u64{1} << 15);  // truncate, ioctl of devices

struct RuleSet {
  u64 files = 0, network = 0, scoped = 0;
};

}  // namespace

Landlock::Landlock() {
  long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return;
  constexpr long kKnown = static_cast<long>(std::size(kRightsOf)) - 1;
  RuleSet set;
  set.files = files_ = (u64{1} << kRightsOf[std::min(version, kKnown)]) - 1;
  constexpr long kWithNetwork = 4, kWithScopes = 6;
  if (version >= kWithNetwork) set.network = 3;  // to bind and to connect
  if (version >= kWithScopes) set.scoped = 3;    // abstract sockets, signals
  std::size_t size = version >= kWithScopes ? 24 : version >= kWithNetwork ? 16 : 8;
  fd_ = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &set, size, 0));
}

Landlock::~Landlock() {
  if (fd_ >= 0) ::close(fd_);
}

int Landlock::take() { return std::exchange(fd_, -1); }

void Landlock::let(const std::string& path, u64 rights) {
  int at = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (at < 0) return;
  struct stat st {};
  if (::fstat(at, &st) == 0 && !S_ISDIR(st.st_mode)) rights &= kOfFiles;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights & files_;
  rule.parent_fd = at;
  if (fd_ >= 0) ::syscall(SYS_landlock_add_rule, fd_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  ::close(at);
}

void Landlock::let_read(const std::string& path) {
  let(path, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
}
void Landlock::let_write(const std::string& path) {
  constexpr u64 kTruncate = u64{1} << 14;
  let(path, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate);
}
void Landlock::let_execute(const std::string& path) {
  let(path, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_EXECUTE);
}

}  // namespace tutti
