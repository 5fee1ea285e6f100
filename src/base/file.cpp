#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/boundary.h"
#include "base/minisign.h"
#include "base/pipe.h"
#include "base/private_file.h"

namespace tutti {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd, bool owned = true) : fd_(fd), owned_(owned) {}
  ~Descriptor() {
    if (fd_ >= 0 && owned_) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
  bool owned_;
};

auto system_failure(std::string_view what, const std::string& path) {
  int code = errno;
  return failure(fmt::format("{} {}: {}", what, path, std::strerror(code)), code);
}

}  // namespace

namespace {

// Pipes and devices tell their size as 0 and end when they end.
Result<std::string> read_all(int fd, const struct stat& st, const std::string& path, u64 most) {
  if (S_ISDIR(st.st_mode)) return failure(fmt::format("cannot read {}: it is a directory", path), EISDIR);
  auto too_large = [&] {
    return failure(fmt::format("{} is larger than {} bytes (--limit input=N)", path, most), EFBIG);
  };
  if (S_ISREG(st.st_mode) && static_cast<u64>(st.st_size) > most) return too_large();

  std::string text;
  std::size_t used = 0;
  text.resize(S_ISREG(st.st_mode) ? static_cast<std::size_t>(st.st_size) + 1 : 1 << 16);
  for (;;) {
    if (used == text.size()) text.resize(text.size() * 2);
    ssize_t n = ::read(fd, text.data() + used, text.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_failure("cannot read", path);
    if (n == 0) break;
    used += static_cast<std::size_t>(n);
    if (used > most) return too_large();
    // all that there is, and no more though more was asked for
    if (S_ISREG(st.st_mode) && used < text.size() && used == static_cast<std::size_t>(st.st_size)) break;
  }
  text.resize(used);
  return text;
}

// The very file that is held, opened for reading. Where there is no /proc, the one of this name if it still is the
// same.
int open_held(int held, const struct stat& st, const std::string& path) {
  int fd = ::open(fmt::format("/proc/self/fd/{}", held).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0 || errno != ENOENT) return fd;
  fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat now {};
  if (fd >= 0 && ::fstat(fd, &now) == 0 && now.st_dev == st.st_dev && now.st_ino == st.st_ino) return fd;
  if (fd >= 0) ::close(fd);
  errno = ESTALE;
  return -1;
}

Result<std::string> read_descriptor(int fd, const std::string& path, u64 most) {
  struct stat st {};
  if (fd < 0 || ::fstat(fd, &st) != 0) return system_failure("cannot read", path);
  return read_all(fd, st, path, most);
}

}  // namespace

namespace {

Result<std::string> read_inside(const std::string& path, u64 most) {
  if (path == "-") return read_descriptor(0, path, most);
  Result<Held> inside = hold_inside(path);
  if (!inside) return tl::unexpected<Failure>(inside.error());
  Descriptor held(inside->fd);
  struct stat st {};
  if (::fstat(held.get(), &st) != 0) return system_failure("cannot read", path);
  if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !inside->named)
    return failure(fmt::format("cannot read {}: it is a {}, which is read only where the command line names it", path,
                               S_ISFIFO(st.st_mode)   ? "pipe"
                               : S_ISSOCK(st.st_mode) ? "socket"
                                                      : "device"),
                   EINVAL);
  Descriptor fd(open_held(held.get(), st, path));
  return read_descriptor(fd.get(), path, most);
}

}  // namespace

Result<std::string> read_file(const std::string& path, u64 most) {
  Result<std::string> bytes = read_inside(path, most);
  if (!bytes || !RequiredSignatures::in_force()) return bytes;
  constexpr u64 kLongestSignature = 1 << 14;
  Result<std::string> signature = path == "-" ? failure("standard input has none")
                                              : read_inside(path + std::string(kSignatureEnding), kLongestSignature);
  if (Result<void> accepted = RequiredSignatures::check(path, *bytes, signature); !accepted)
    return tl::unexpected<Failure>(accepted.error());
  return bytes;
}

bool is_refused(const Failure& failure) { return failure.code == kOutside || failure.code == kNotSigned; }

Result<std::string> read_own_file(const std::string& path, u64 most) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return read_descriptor(fd.get(), path, most);
}

std::string through_links(std::string path) {
  char target[PATH_MAX];
  for (int i = 0; i < 40; i++) {
    ssize_t n = ::readlink(path.c_str(), target, sizeof target);
    if (n <= 0) return path;
    std::string_view to(target, static_cast<std::size_t>(n));
    std::size_t slash = path.rfind('/');
    path = to.starts_with('/') || slash == std::string::npos ? std::string(to)
                                                             : path.substr(0, slash + 1) + std::string(to);
  }
  return path;
}

namespace {

// As the file was, or as the umask has new ones; or for its owner alone.
Result<void> write_beside(const std::string& given, std::string_view bytes, bool own) {
  std::string path = through_links(given);  // a link stays one
  struct stat st {};
  if (Result<void> inside = may_write(path); !inside) return inside;
  bool exists = ::stat(path.c_str(), &st) == 0;
  if (exists && !S_ISREG(st.st_mode)) {  // a device or a pipe cannot be replaced: write through it
    Descriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (fd.get() < 0) return system_failure("cannot write", path);
    if (!write_whole(fd.get(), bytes)) return system_failure("cannot write", path);
    return {};
  }
  std::string beside = fmt::format("{}.{}.tmp", path, ::getpid());
  {
    Descriptor fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, own ? 0600 : 0666));
    if (fd.get() < 0) return system_failure("cannot write", path);
    auto give_up = [&] {
      auto why = system_failure("cannot write", path);
      ::unlink(beside.c_str());
      return why;
    };
    if (exists && !own && ::fchmod(fd.get(), st.st_mode & 07777) != 0) return give_up();
    if (!write_whole(fd.get(), bytes)) return give_up();
    if (::fsync(fd.get()) != 0) return give_up();
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) {
    auto why = system_failure("cannot write", path);
    ::unlink(beside.c_str());
    return why;
  }
  return {};
}

}  // namespace

Result<void> write_file_atomically(const std::string& path, std::string_view bytes) {
  return write_beside(path, bytes, false);
}

Result<void> write_private_file(const std::string& path, std::string_view bytes) {
  return write_beside(path, bytes, true);
}

Result<void> make_folders_for(const std::string& path) {
  if (Result<void> inside = may_write(path); !inside) return inside;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return failure(fmt::format("cannot write {}: {}", path, error.message()), error.value());
  return {};
}

}  // namespace tutti
