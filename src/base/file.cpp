#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

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

Result<std::string> read_file(const std::string& path, u64 most) {
  bool standard_input = path == "-";
  Descriptor fd(standard_input ? 0 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC), !standard_input);
  if (fd.get() < 0) return system_failure("cannot read", path);
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) return system_failure("cannot read", path);
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
    ssize_t n = ::read(fd.get(), text.data() + used, text.size() - used);
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

Result<void> write_file_atomically(const std::string& given, std::string_view bytes) {
  std::string path = through_links(given);  // a link stays one
  struct stat st {};
  bool exists = ::stat(path.c_str(), &st) == 0;
  if (exists && !S_ISREG(st.st_mode)) {  // a device or a pipe cannot be replaced: write through it
    Descriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (fd.get() < 0) return system_failure("cannot write", path);
    while (!bytes.empty()) {
      ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return system_failure("cannot write", path);
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
  }
  std::string beside = fmt::format("{}.{}.tmp", path, ::getpid());
  {
    Descriptor fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd.get() < 0) return system_failure("cannot write", path);
    auto give_up = [&] {
      auto why = system_failure("cannot write", path);
      ::unlink(beside.c_str());
      return why;
    };
    if (exists && ::fchmod(fd.get(), st.st_mode & 07777) != 0) return give_up();
    while (!bytes.empty()) {
      ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return give_up();
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    if (::fsync(fd.get()) != 0) return give_up();
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) {
    auto why = system_failure("cannot write", path);
    ::unlink(beside.c_str());
    return why;
  }
  return {};
}

}  // namespace tutti
