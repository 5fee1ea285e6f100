#include "project/trust.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "format/json.h"
#include "format/write.h"
#include "tree/session.h"

namespace tutti {
namespace {

constexpr u64 kLongestStore = u64{1} << 24;

std::string real_folder(const std::string& folder) {
  char buffer[PATH_MAX];
  return ::realpath(folder.c_str(), buffer) != nullptr ? std::string(buffer) : std::string();
}

std::string state_directory() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/tutti";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.local/state/tutti";
  return {};
}

bool others_write(const struct stat& st) { return (st.st_mode & S_IWOTH) != 0; }

// The file and its directory must be the user's own: whoever could write them could trust in the user's name.
std::string not_own(int fd, const std::string& path, bool file) {
  struct stat st {};
  if (::fstat(fd, &st) != 0) return fmt::format("{}: {}", path, std::strerror(errno));
  if (st.st_uid != ::geteuid())
    return fmt::format("{} belongs to the user {}, not to {}, who asks", path, st.st_uid, ::geteuid());
  if ((st.st_mode & (S_IWOTH | S_IWGRP)) != 0) return fmt::format("others may write {}", path);
  if (file && !S_ISREG(st.st_mode)) return fmt::format("{} is no regular file", path);
  return {};
}

struct Opened {
  int fd = -1;
  ~Opened() {
    if (fd >= 0) ::close(fd);
  }
};

// Opens the store in its directory, without following a link for either.
Result<void> open_store(Opened& out, int flags) {
  std::string directory = state_directory();
  if (directory.empty()) return failure("neither XDG_STATE_HOME nor HOME names a directory to keep trust in");
  if ((flags & O_CREAT) != 0) {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(directory).parent_path(), error);
    if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
      return failure(fmt::format("cannot make {}: {}", directory, std::strerror(errno)), errno);
  }
  Opened folder{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  int why = errno;
  if (folder.fd < 0) return failure(fmt::format("cannot read {}: {}", directory, std::strerror(why)), why);
  if (std::string wrong = not_own(folder.fd, directory, false); !wrong.empty()) return failure(wrong);
  out.fd = ::openat(folder.fd, "trust", flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
  why = errno;
  std::string path = directory + "/trust";
  if (out.fd < 0) return failure(fmt::format("cannot read {}: {}", path, std::strerror(why)), why);
  if (std::string wrong = not_own(out.fd, path, true); !wrong.empty()) return failure(wrong);
  return {};
}

std::vector<TrustStore::Record> records_in(std::string text) {
  std::vector<TrustStore::Record> out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    Session session;
    Result<const Source*> line = session.sources->add("trust", text.substr(at, end - at));
    at = end + 1;
    std::optional<Value> one = line ? read_json(session, **line) : std::nullopt;
    if (!one || !one->is(Kind::kMap)) continue;
    auto number = [&](std::string_view key) -> u64 {
      const Entry* e = one->find(key);
      u64 n = 0;
      std::string_view digits = e != nullptr && e->value.is(Kind::kString) ? e->value.text() : "";
      std::from_chars(digits.data(), digits.data() + digits.size(), n);
      return n;
    };
    const Entry* path = one->find("path");
    if (path == nullptr || !path->value.is(Kind::kString)) continue;
    out.push_back(
        {std::string(path->value.text()), number("device"), number("inode"), static_cast<u32>(number("owner"))});
  }
  return out;
}

// One line for each. Numbers are text, since an inode may be larger than what JSON readers keep exactly.
std::string line_of(const TrustStore::Record& r) {
  Session session;
  TreeBuilder b = session.builder();
  MapDraft map;
  map.set(Symbol("path"), b.string(r.path));
  map.set(Symbol("device"), b.string(std::to_string(r.device)));
  map.set(Symbol("inode"), b.string(std::to_string(r.inode)));
  map.set(Symbol("owner"), b.string(std::to_string(r.owner)));
  StringSink sink;
  write_json(map.build(b), {.indent = 0}, sink);
  std::string text = sink.take();
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

Result<std::string> text_of(int fd) {
  std::string text;
  char block[65536];
  ::lseek(fd, 0, SEEK_SET);
  for (;;) {
    ssize_t n = ::read(fd, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failure(fmt::format("cannot read {}: {}", TrustStore::file(), std::strerror(errno)), errno);
    if (n == 0) return text;
    text.append(block, static_cast<std::size_t>(n));
    if (text.size() > kLongestStore)
      return failure(fmt::format("{} is larger than {} bytes", TrustStore::file(), kLongestStore));
  }
}

// Under a lock, so that two calls at once lose nothing.
Result<bool> change_store(const std::string& path, const std::optional<TrustStore::Record>& add) {
  Opened store;
  if (Result<void> opened = open_store(store, O_RDWR | O_CREAT); !opened)
    return tl::unexpected<Failure>(opened.error());
  if (::flock(store.fd, LOCK_EX) != 0) return failure(fmt::format("cannot lock {}", TrustStore::file()), errno);
  Result<std::string> text = text_of(store.fd);
  if (!text) return tl::unexpected<Failure>(text.error());
  std::string after;
  bool there = false;
  for (const TrustStore::Record& r : records_in(std::move(*text))) {
    there |= r.path == path;
    if (r.path != path) after += line_of(r);
  }
  if (add) after += line_of(*add);
  bool written = ::ftruncate(store.fd, 0) == 0 &&
                 ::pwrite(store.fd, after.data(), after.size(), 0) == static_cast<ssize_t>(after.size());
  if (!written) return failure(fmt::format("cannot write {}: {}", TrustStore::file(), std::strerror(errno)), errno);
  return there;
}

bool below_folder(const std::string& path, const std::string& folder) {
  return path == folder || (path.starts_with(folder) && (folder.ends_with('/') || path[folder.size()] == '/'));
}

}  // namespace

std::string TrustStore::file() { return state_directory() + "/trust"; }

Result<std::vector<TrustStore::Record>> TrustStore::read() {
  Opened store;
  if (Result<void> opened = open_store(store, O_RDONLY); !opened) {
    if (opened.error().code == ENOENT) return std::vector<Record>{};
    return tl::unexpected<Failure>(opened.error());
  }
  Result<std::string> text = text_of(store.fd);
  if (!text) return tl::unexpected<Failure>(text.error());
  return records_in(std::move(*text));
}

Result<void> TrustStore::add(const std::string& folder) {
  std::string path = real_folder(folder);
  struct stat st {};
  if (path.empty() || ::stat(path.c_str(), &st) != 0 || !S_ISDIR(st.st_mode))
    return failure(fmt::format("{} is not a folder", folder), ENOTDIR);
  if (path == "/") return failure("all of the machine cannot be trusted: name the folder of a project", EINVAL);
  if (others_write(st))
    return failure(fmt::format("everybody may write into {}: trust a folder of your own", path), EPERM);
  Result<bool> done = change_store(path, Record{path, st.st_dev, st.st_ino, st.st_uid});
  if (!done) return tl::unexpected<Failure>(done.error());
  return {};
}

Result<bool> TrustStore::remove(const std::string& folder) {
  std::string path = real_folder(folder);
  return change_store(path.empty() ? folder : path, std::nullopt);
}

Trust trust_in(const std::string& folder) {
  std::string path = real_folder(folder);
  struct stat st {};
  if (path.empty() || ::stat(path.c_str(), &st) != 0) return {};
  Result<std::vector<TrustStore::Record>> records = TrustStore::read();
  if (!records) return {false, records.error().message};
  Trust best;
  for (const TrustStore::Record& r : *records) {
    if (!below_folder(path, r.path)) continue;
    struct stat root {};
    bool same = ::stat(r.path.c_str(), &root) == 0 && root.st_dev == r.device && root.st_ino == r.inode &&
                root.st_uid == r.owner;
    if (!same) {
      best.why_not = fmt::format("{} is not the folder any more that was trusted", r.path);
    } else if (others_write(root) || others_write(st)) {
      best.why_not = fmt::format("everybody may write into {}", others_write(root) ? r.path : path);
    } else if (st.st_uid != r.owner && st.st_uid != ::geteuid() && st.st_uid != 0) {
      best.why_not = fmt::format("{} belongs to the user {}", path, st.st_uid);
    } else {
      return {true, {}};
    }
  }
  return best;
}

bool is_own_folder(const std::string& folder) {
  struct stat st {};
  return ::stat(folder.c_str(), &st) == 0 && st.st_uid == ::geteuid() && !others_write(st);
}

bool is_common_folder(const std::string& folder) {
  struct stat st {};
  const char* home = std::getenv("HOME");
  return folder == "/" || (home != nullptr && folder == real_folder(home)) ||
         (::stat(folder.c_str(), &st) == 0 && others_write(st));
}

std::string project_of(const std::string& folder) {
  std::string real = real_folder(folder);
  struct stat own {};
  if (real.empty() || ::stat(real.c_str(), &own) != 0) return folder;
  const char* home_name = std::getenv("HOME");
  const std::string home = home_name != nullptr ? real_folder(home_name) : "";
  auto marked = [&](const std::filesystem::path& at, const char* mark) {
    struct stat st {};
    return ::lstat((at / mark).c_str(), &st) == 0 &&
           (st.st_uid == own.st_uid || st.st_uid == ::geteuid() || st.st_uid == 0);
  };
  std::string other;
  for (std::filesystem::path at = real; at != at.root_path() && at != home; at = at.parent_path()) {
    if (marked(at, ".git")) return at.string();
    if (other.empty() && (marked(at, "cue.mod") || marked(at, "environment.conf"))) other = at.string();
  }
  return other.empty() ? real : other;
}

}  // namespace tutti
