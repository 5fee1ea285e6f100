#include "store/own_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

namespace tutti::store {
namespace {

std::string user_named(uid_t id) {
  passwd* pw = ::getpwuid(id);
  return pw ? pw->pw_name : fmt::format("user {}", id);
}

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

// "" when it is ours and nobody else can write it.
std::string why_not_own(const struct stat& s) {
  if (s.st_uid != ::geteuid()) return fmt::format("belongs to {}", user_named(s.st_uid));
  if ((s.st_mode & kOthersWrite) != 0 && !S_ISLNK(s.st_mode) && !S_ISSOCK(s.st_mode))
    return fmt::format("can be written by others (mode {:o})", s.st_mode & 07777);
  return "";
}

auto foreign(const std::string& path, const std::string& why) {
  return failure(fmt::format("{} {}", path, why), kForeign);
}

// Our own link leads where we want it to; anybody else's where they do.
Result<std::string> without_links(const std::string& path) {
  struct stat s {};
  if (::lstat(path.c_str(), &s) == 0 && S_ISLNK(s.st_mode) && s.st_uid != ::geteuid())
    return foreign(path, fmt::format("is a link that belongs to {}", user_named(s.st_uid)));
  std::unique_ptr<char, void (*)(void*)> full(::realpath(path.c_str(), nullptr), std::free);
  if (!full) return failure(fmt::format("cannot open {}: {}", path, std::strerror(errno)), errno);
  return std::string(full.get());
}

// The kernel's name of the file system that an open directory lies on.
std::string type_of_mount(int fd) {
  struct statx s {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &s) != 0) return "";
  std::string device = fmt::format("{}:{}", s.stx_dev_major, s.stx_dev_minor), type;
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string number, parent, which, word;
    words >> number >> parent >> which;
    while (words >> word && word != "-") {
    }
    if (which == device && words >> word) type = word;
  }
  return type;
}

}  // namespace

std::string network_file_system(i64 magic, const std::string& type) {
  constexpr std::pair<i64, const char*> kNetworks[] = {
      {0x6969, "nfs"},        {0xff534d42, "cifs"},   {0xfe534d42, "smb2"},  {0x517b, "smb"},
      {0x01021997, "9p"},     {0x5346414f, "afs"},    {0x6b414653, "afs"},   {0x73757245, "coda"},
      {0x00c36400, "ceph"},   {0x0bd00bd0, "lustre"}, {0x47504653, "gpfs"},  {0x564c, "ncp"},
      {0x19830326, "beegfs"}, {0x786f4256, "vboxsf"}, {0x013111a8, "ibrix"}, {0xaad7aaea, "panfs"},
  };
  for (auto& [known, name] : kNetworks)
    if (magic == known) return name;
  constexpr i64 kFuse = 0x65735546;
  if (magic != kFuse) return "";
  // Behind FUSE there may be anything: only what is known to keep its files here is taken.
  for (const char* local : {"fuseblk", "fuse.fuse-overlayfs", "fuse.gocryptfs", "fuse.cryfs", "fuse.encfs"})
    if (type == local) return "";
  return type.empty() ? "fuse" : type;
}

std::string why_not_own_file(int fd) {
  struct stat s {};
  if (::fstat(fd, &s) != 0) return std::strerror(errno);
  return S_ISREG(s.st_mode) ? why_not_own(s) : "is no regular file";
}

namespace {

// A key that is committed with what it seals protects nothing.
void keep_out_of_git(int directory) {
  int fd = ::openat(directory, ".gitignore", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return;
  [[maybe_unused]] ssize_t n = ::write(fd, "*\n", 2);
  ::close(fd);
}

}  // namespace

Result<OwnDirectory> OwnDirectory::open(const std::string& path) {
  bool made = ::mkdir(path.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) return failure(fmt::format("cannot make {}: {}", path, std::strerror(errno)), errno);
  auto full = without_links(path);
  if (!full) return tl::unexpected(full.error());
  int fd = ::open(full->c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return failure(fmt::format("cannot open {}: {}", path, std::strerror(errno)), errno);
  OwnDirectory own(fd, std::move(*full), path);
  struct stat s {};
  if (::fstat(fd, &s) != 0) return failure(fmt::format("cannot look at {}: {}", path, std::strerror(errno)), errno);
  if (auto why = why_not_own(s); !why.empty()) return foreign(path, why);
  struct statfs disk {};
  std::string network = ::fstatfs(fd, &disk) == 0 ? network_file_system(disk.f_type, type_of_mount(fd)) : "";
  if (!network.empty())
    return failure(
        fmt::format("{} lies on a network file system ({}), where two machines can write at once", path, network),
        kNetworked);
  // What commands printed is nobody else's business. On a disk that is read-only it stays as it is.
  if ((s.st_mode & 077) != 0) [[maybe_unused]]
    int kept = ::fchmod(fd, 0700);
  if (made && own.path().ends_with("/.tutti")) keep_out_of_git(fd);
  return own;
}

OwnDirectory::OwnDirectory(OwnDirectory&& other) noexcept
    : fd_(other.fd_), path_(std::move(other.path_)), shown_(std::move(other.shown_)) {
  other.fd_ = -1;
}

OwnDirectory::~OwnDirectory() {
  if (fd_ >= 0) ::close(fd_);
}

bool OwnDirectory::has(const std::string& name) const {
  struct stat s {};
  return ::fstatat(fd_, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) == 0;
}

Result<int> OwnDirectory::file(const std::string& name, int flags) const {
  std::string path = fmt::format("{}/{}", shown_, name);
  int fd = ::openat(fd_, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
  if (fd < 0 && errno == ELOOP) return foreign(path, "is a symbolic link");
  if (fd < 0) return failure(fmt::format("cannot open {}: {}", path, std::strerror(errno)), errno);
  if (auto why = why_not_own_file(fd); !why.empty()) {
    ::close(fd);
    return foreign(path, why);
  }
  return fd;
}

Result<void> OwnDirectory::check() const {
  int again = ::openat(fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* all = again < 0 ? nullptr : ::fdopendir(again);
  if (!all) return failure(fmt::format("cannot read {}: {}", shown_, std::strerror(errno)), errno);
  struct Closing {
    DIR* open;
    ~Closing() { ::closedir(open); }
  } closing{all};
  while (dirent* e = ::readdir(all)) {
    std::string_view name = e->d_name;
    struct stat s {};
    if (name == "." || name == ".." || ::fstatat(fd_, e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0) continue;
    std::string path = fmt::format("{}/{}", shown_, name);
    if (S_ISLNK(s.st_mode)) return foreign(path, "is a symbolic link");
    bool matters = name.starts_with("state.db") || name == "key" || S_ISDIR(s.st_mode);
    if (!matters) s.st_mode &= ~kOthersWrite;  // nobody else gets to it through a directory of ours
    if (auto why = why_not_own(s); !why.empty()) return foreign(path, why);
  }
  return {};
}

std::string OwnDirectory::birth(const std::string& name) const {
  struct statx s {};
  if (::statx(fd_, name.c_str(), AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &s) != 0) return "";
  if ((s.stx_mask & STATX_BTIME) == 0) return fmt::format("{}", s.stx_ino);
  return fmt::format("{}.{}.{:09}", s.stx_ino, s.stx_btime.tv_sec, s.stx_btime.tv_nsec);
}

}  // namespace tutti::store
