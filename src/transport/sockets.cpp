#include "transport/sockets.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/types.h"

namespace tutti {
namespace {

constexpr std::size_t kMostBytes = 108 - 1 - 17;  // of a socket's name: the end, and what OpenSSH adds while it binds
constexpr std::size_t kNameBytes = 1 + 16;        // "/" and a number

// "" or why it is not ours alone.
std::string wrong_directory(const std::string& path) {
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0) return std::strerror(errno);
  if (!S_ISDIR(st.st_mode)) return "it is not a directory";
  if (st.st_uid != ::geteuid()) return fmt::format("it belongs to user {}", st.st_uid);
  if (st.st_mode & 077) return fmt::format("others may use it (mode {:04o})", st.st_mode & 07777);
  return "";
}

std::vector<std::string> candidates() {
  std::vector<std::string> out;
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime && *runtime == '/')
    out.push_back(fmt::format("{}/tutti", runtime));
  if (::geteuid() == 0) out.push_back("/run/tutti-ssh");
  out.push_back(fmt::format("/tmp/tutti-ssh-{}", ::geteuid()));
  return out;
}

}  // namespace

Result<std::string> socket_directory() {
  std::string why;
  for (const std::string& path : candidates()) {
    if (path.size() + kNameBytes > kMostBytes) continue;
    int made = ::mkdir(path.c_str(), 0700);
    if (made != 0 && errno != EEXIST) continue;
    std::string wrong = wrong_directory(path);
    if (wrong.empty()) return path;
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", path, wrong);
  }
  // In /tmp anybody can take the name first: then a name that nobody knows before has to do.
  std::string own = "/tmp/tutti-ssh-XXXXXX";
  if (::mkdtemp(own.data())) return own;
  return failure(
      fmt::format("no directory for the sockets of shared connections: {}", why.empty() ? std::strerror(errno) : why),
      errno);
}

Result<std::string> new_socket_path() {
  // Once for a process: what was refused for one host is refused for all.
  static const Result<std::string> directory = socket_directory();
  if (!directory) return directory;
  u64 name = 0;
  if (::getrandom(&name, sizeof name, 0) != sizeof name) return failure("no random numbers", errno);
  return fmt::format("{}/{:016x}", *directory, name);
}

}  // namespace tutti
