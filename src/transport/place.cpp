#include "transport/place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>

#include "base/types.h"

namespace tutti {
namespace {

constexpr int kMostLinks = 40;  // as the kernel's own limit
constexpr uid_t kNobodyKnows = static_cast<uid_t>(-1);

tl::unexpected<Failure> no_way(const std::string& path, int code) {
  return failure(fmt::format("cannot reach {}: {}", path, std::strerror(code)), code);
}

bool others_may_write(const struct stat& directory) {
  bool group = (directory.st_mode & S_IWGRP) && directory.st_gid != 0 && directory.st_gid != ::getegid();
  return !is_ours(directory.st_uid) || group || (directory.st_mode & S_IWOTH);
}

// Who may have put a thing of that owner into the directory, beside root and us: nullopt nobody.
std::optional<uid_t> who_put(const struct stat& directory, uid_t owner) {
  if (!others_may_write(directory)) return std::nullopt;
  bool sticky = (directory.st_mode & S_ISVTX) && is_ours(directory.st_uid);
  if (is_ours(owner)) {
    if (sticky) return std::nullopt;  // others can neither make nor move what is ours there
    if (!is_ours(directory.st_uid)) return directory.st_uid;
    // Who is of the directory's group cannot make what is ours, either.
    return directory.st_mode & S_IWOTH ? std::optional(kNobodyKnows) : std::nullopt;
  }
  return owner;
}

bool is_trusted(const struct stat& directory) {
  return !others_may_write(directory) || ((directory.st_mode & S_ISVTX) && is_ours(directory.st_uid));
}

class Walk {
 public:
  explicit Walk(const std::string& path) : path_(path) {
    push(path);
    at_ = Descriptor(::open(path.starts_with('/') ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

  Result<Place> go(bool follow) {
    if (!at_) return no_way(path_, errno);
    while (!names_.empty()) {
      std::string name = std::move(names_.front());
      names_.pop_front();
      bool last = names_.empty();
      if (name == "." && !last) continue;
      struct stat st {};
      bool there = ::fstatat(at_.get(), name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0;
      if (!there && (!last || errno != ENOENT)) return no_way(path_, errno);
      if (there && S_ISLNK(st.st_mode) && (follow || !last)) {
        if (auto r = through_link(name, st); !r) return tl::unexpected(r.error());
        continue;
      }
      if (last) return arrive(std::move(name));
      if (auto r = enter(name); !r) return tl::unexpected(r.error());
    }
    return arrive(".");
  }

 private:
  // Puts the names of a path before those that are left.
  void push(const std::string& path) {
    std::deque<std::string> names;
    for (std::size_t at = 0; at < path.size();) {
      std::size_t end = std::min(path.find('/', at), path.size());
      if (end > at) names.push_back(path.substr(at, end - at));
      at = end + 1;
    }
    names_.insert(names_.begin(), names.begin(), names.end());
  }

  Result<void> enter(const std::string& name) {
    Descriptor next(::openat(at_.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return no_way(path_, errno);
    at_ = std::move(next);
    return {};
  }

  Result<void> through_link(const std::string& name, const struct stat& link) {
    if (++links_ > kMostLinks) return no_way(path_, ELOOP);
    struct stat directory {};
    if (::fstat(at_.get(), &directory) != 0) return no_way(path_, errno);
    if (auto by = who_put(directory, link.st_uid)) {
      if (*by == kNobodyKnows || (bound_ && *bound_ != *by)) return strange_link(name, *by);
      bound_ = *by;
      link_ = name;
    }
    std::string target(4096, '\0');
    ssize_t n = ::readlinkat(at_.get(), name.c_str(), target.data(), target.size());
    if (n < 0) return no_way(path_, errno);
    target.resize(static_cast<std::size_t>(n));
    push(target);
    if (!target.starts_with('/')) return {};
    at_ = Descriptor(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    return at_ ? Result<void>{} : no_way(path_, errno);
  }

  tl::unexpected<Failure> strange_link(const std::string& name, uid_t by) const {
    std::string who = by == kNobodyKnows ? "anybody" : fmt::format("user {}", by);
    return failure(fmt::format("{} leads over the link `{}`, which {} can have made, to what is not theirs: it is not "
                               "followed",
                               path_, name, who),
                   kUntrusted);
  }

  Result<Place> arrive(std::string name) {
    struct stat directory {};
    if (::fstat(at_.get(), &directory) != 0) return no_way(path_, errno);
    if (bound_ && directory.st_uid != *bound_) return strange_link(link_, *bound_);
    Place place;
    place.directory = std::move(at_);
    place.name = std::move(name);
    place.path = path_;
    place.trusted = !bound_ && is_trusted(directory);
    return place;
  }

  const std::string& path_;
  std::deque<std::string> names_;
  Descriptor at_;
  std::optional<uid_t> bound_;
  std::string link_;
  int links_ = 0;
};

}  // namespace

bool is_ours(uid_t uid) { return uid == 0 || uid == ::geteuid(); }

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset(other.fd_);
    other.fd_ = -1;
  }
  return *this;
}

void Descriptor::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

bool Place::look(struct stat& st) const {
  return ::fstatat(directory.get(), name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0;
}

// Where no link is on the way one call of the kernel's does for the whole directory.
Result<Place> find_place(const std::string& path, bool follow) {
  std::size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (!name.empty() && name != "." && name != "..") {
    std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    open_how how{};
    how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_NO_SYMLINKS;
    Place place;
    place.directory = Descriptor(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, parent.c_str(), &how, sizeof how)));
    struct stat directory {
    }, thing{};
    place.name = std::move(name);
    place.path = path;
    if (place.directory && ::fstat(place.directory.get(), &directory) == 0 &&
        !(follow && place.look(thing) && S_ISLNK(thing.st_mode))) {
      place.trusted = is_trusted(directory);
      return place;
    }
  }
  return Walk(path).go(follow);
}

Result<Descriptor> open_at(const Place& place, int flags, mode_t mode) {
  Descriptor fd(::openat(place.directory.get(), place.name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd) return failure(std::strerror(errno), errno);
  return fd;
}

}  // namespace tutti
