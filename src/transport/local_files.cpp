#include "transport/local_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/pipe.h"

namespace tutti {
namespace {

tl::unexpected<Failure> cannot(std::string_view what, const std::string& path, int code = errno) {
  return failure(fmt::format("cannot {} {}: {}", what, path, std::strerror(code)), code);
}

// Of a walk that did not arrive: what could not be done, and why.
tl::unexpected<Failure> cannot(std::string_view what, const std::string& path, const Failure& why) {
  if (why.code != kUntrusted) return cannot(what, path, why.code);
  return failure(fmt::format("cannot {} {}: {}", what, path, why.message), kUntrusted);
}

// By what a descriptor's file can be reached again, for calls that take only paths.
std::string by_descriptor(const Descriptor& fd) { return fmt::format("/proc/self/fd/{}", fd.get()); }

struct Ids {
  uid_t user = static_cast<uid_t>(-1);
  gid_t group = static_cast<gid_t>(-1);
  bool any() const { return user != static_cast<uid_t>(-1) || group != static_cast<gid_t>(-1); }
};

Result<Ids> ids_of(const Ownership& owned) {
  Ids ids;
  if (!owned.user.empty()) {
    auto account = account_of(owned.user);
    if (!account) return tl::unexpected(account.error());
    ids.user = account->uid;
  }
  if (!owned.group.empty()) {
    auto group = group_id(owned.group);
    if (!group) return tl::unexpected(group.error());
    ids.group = *group;
  }
  return ids;
}

// A new file that nobody else writes, locked as long as it is open. One that is there is a dead process's, which goes,
// or somebody is at work on it, who is waited for.
int open_unfinished(int directory, const std::string& beside) {
  for (;;) {
    int fd = ::openat(directory, beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct stat ours {
    }, there{};
    auto look = [&] { return ::fstatat(directory, beside.c_str(), &there, AT_SYMLINK_NOFOLLOW); };
    if (fd >= 0) {
      bool same = ::flock(fd, LOCK_EX) == 0 && ::fstat(fd, &ours) == 0 && look() == 0 && ours.st_ino == there.st_ino &&
                  ours.st_dev == there.st_dev;
      if (same) return fd;
      ::close(fd);  // taken for a dead process's before it was locked
      continue;
    }
    if (errno != EEXIST) return -1;
    Descriptor other(::openat(directory, beside.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!other && errno == ENOENT) continue;
    // In a directory of everybody's somebody else's file could be held for ever.
    bool mine = other && ::fstat(other.get(), &ours) == 0 && ours.st_uid == ::geteuid();
    if (mine) ::flock(other.get(), LOCK_EX);
    if (look() != 0) continue;
    // It has become what it was for, and there is a newer one.
    if (mine && ours.st_ino != there.st_ino) continue;
    if (::unlinkat(directory, beside.c_str(), 0) != 0 && errno != ENOENT) return -1;
  }
}

// Relative to open directories, so that a link put in place meanwhile leads nowhere.
bool remove_tree(int at, const char* name) {
  int fd = ::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return (errno == ENOTDIR || errno == ELOOP) ? ::unlinkat(at, name, 0) == 0 : false;
  DIR* dir = ::fdopendir(fd);
  bool ok = dir != nullptr;
  while (ok) {
    errno = 0;
    dirent* e = ::readdir(dir);
    if (!e) break;
    if (std::strcmp(e->d_name, ".") == 0 || std::strcmp(e->d_name, "..") == 0) continue;
    ok =
        e->d_type == DT_DIR || e->d_type == DT_UNKNOWN ? remove_tree(fd, e->d_name) : ::unlinkat(fd, e->d_name, 0) == 0;
  }
  int error = errno;
  if (dir) ::closedir(dir);
  errno = error;
  return ok && ::unlinkat(at, name, AT_REMOVEDIR) == 0;
}

bool is_empty(const Descriptor& thing) {
  int fd = ::openat(thing.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* dir = fd < 0 ? nullptr : ::fdopendir(fd);
  if (!dir) return false;
  bool empty = true;
  while (dirent* e = ::readdir(dir))
    empty = empty && (std::strcmp(e->d_name, ".") == 0 || std::strcmp(e->d_name, "..") == 0);
  ::closedir(dir);
  return empty;
}

// What lies in another user's directory is whatever that user has put under the name. A thing of root's that can have
// come there so is not given away, nor opened to others.
bool may_be_put_there(const Place& place, const Descriptor& thing, const struct stat& st) {
  if (place.trusted || !is_ours(st.st_uid) || ::geteuid() != 0 || S_ISLNK(st.st_mode)) return false;
  return !S_ISDIR(st.st_mode) || !is_empty(thing);
}

tl::unexpected<Failure> put_there(std::string_view what, const std::string& path) {
  return failure(fmt::format("cannot {} {}: it is root's and lies in a directory of another user, who can have put it "
                             "there under this name (say its `content`, or remove it first)",
                             what, path),
                 kUntrusted);
}

}  // namespace

void LocalFiles::note_changed(std::string path) {
  std::lock_guard lock(changed_mutex_);
  changed_.insert(std::move(path));
}

void LocalFiles::note_entry(const std::string& path) {
  std::size_t slash = path.rfind('/');
  note_changed(slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash));
}

// A pipe, a socket or a terminal would keep whoever reads it waiting for ever.
Result<std::string> LocalFiles::read(const std::string& path) {
  auto place = find_place(path, true);
  if (!place) return cannot("read", path, place.error());
  auto look = open_at(*place, O_PATH);
  if (!look) return cannot("read", path, look.error());
  struct stat st {};
  if (::fstat(look->get(), &st) != 0) return cannot("read", path);
  bool null = S_ISCHR(st.st_mode) && path == "/dev/null";
  if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !null)
    return failure(fmt::format("cannot read {}: it is neither a file nor a directory nor a link to one", path), EINVAL);
  auto bytes = read_own_file(by_descriptor(*look), u64{1} << 31);
  if (bytes) return bytes;
  return cannot("read", path, bytes.error().code ? bytes.error().code : EIO);
}

Result<FileState> LocalFiles::stat(const std::string& path, bool follow, bool digest) {
  FileState s;
  auto place = find_place(path, follow);
  auto absent = [](int code) { return code == ENOENT || code == ENOTDIR; };
  if (!place && absent(place.error().code)) return s;
  if (!place) return cannot("look at", path, place.error());
  struct stat st {};
  if (!place->look(st)) return absent(errno) ? Result<FileState>(s) : cannot("look at", path);
  s.kind = S_ISREG(st.st_mode)   ? FileState::Kind::kFile
           : S_ISDIR(st.st_mode) ? FileState::Kind::kDirectory
           : S_ISLNK(st.st_mode) ? FileState::Kind::kLink
                                 : FileState::Kind::kOther;
  s.mode = st.st_mode & 07777;
  s.uid = st.st_uid;
  s.gid = st.st_gid;
  s.owner = names_.user(st.st_uid);
  s.group = names_.group(st.st_gid);
  s.size = static_cast<u64>(st.st_size);
  s.mtime = st.st_mtime;
  s.ctime = st.st_ctime;
  if (s.kind == FileState::Kind::kLink) {
    std::string target(4096, '\0');
    ssize_t n = ::readlinkat(place->directory.get(), place->name.c_str(), target.data(), target.size());
    if (n < 0) return cannot("read link", path);
    target.resize(static_cast<std::size_t>(n));
    s.target = std::move(target);
  }
  if (digest && s.kind == FileState::Kind::kFile) {
    auto bytes = read(path);
    if (!bytes) return tl::unexpected(bytes.error());
    s.digest = sha256_hex(*bytes);
  }
  return s;
}

Result<void> LocalFiles::write(const std::string& path, std::string_view bytes, u32 mode, const Ownership& owned) {
  auto ids = ids_of(owned);
  if (!ids) return tl::unexpected(ids.error());
  auto place = find_place(path, false);
  if (!place) return cannot("write", path, place.error());
  int directory = place->directory.get();
  std::string beside = fmt::format("{}{}", place->name, kUnfinished);
  Descriptor fd(open_unfinished(directory, beside));
  if (!fd) return cannot("write", path);
  auto give_up = [&] {
    auto f = cannot("write", path);
    ::unlinkat(directory, beside.c_str(), 0);
    return f;
  };
  if (!write_whole(fd.get(), bytes)) return give_up();
  // Who owned the old one owns the new one, unless it is said who does. A link to be replaced says nothing of that.
  struct stat old {};
  if (place->look(old) && !S_ISLNK(old.st_mode) && (old.st_uid != ::geteuid() || old.st_gid != ::getegid()))
      [[maybe_unused]]
    int ignored = ::fchown(fd.get(), old.st_uid, old.st_gid);
  if (ids->any() && ::fchown(fd.get(), ids->user, ids->group) != 0) return give_up();
  if (::fchmod(fd.get(), mode) != 0) return give_up();
  // The name must never lead to less than the whole content, whenever the power goes.
  if (::fdatasync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) return give_up();
  if (::renameat(directory, beside.c_str(), directory, place->name.c_str()) != 0) return give_up();
  note_entry(path);
  return {};
}

Result<Descriptor> LocalFiles::open_log(const std::string& path) {
  auto place = find_place(path, true);
  if (!place) return cannot("write", path, place.error());
  auto fd = open_at(*place, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0600);
  if (!fd) return cannot("write", path, fd.error());
  struct stat st {};
  if (::fstat(fd->get(), &st) != 0) return cannot("write", path);
  bool device = S_ISCHR(st.st_mode) && place->trusted;  // /dev/null, a terminal
  if (!S_ISREG(st.st_mode) && !device) return failure(fmt::format("cannot write {}: it is not a file", path), EINVAL);
  // Another name of a file of root's, made where the system lets everybody make them.
  if (!place->trusted && st.st_nlink > 1 && is_ours(st.st_uid)) return put_there("write", path);
  ::fcntl(fd->get(), F_SETFL, O_APPEND);
  return fd;
}

Result<Descriptor> LocalFiles::open_new(const std::string& path, u32 mode) {
  auto place = find_place(path, false);
  if (!place) return cannot("write", path, place.error());
  if (::unlinkat(place->directory.get(), place->name.c_str(), 0) != 0 && errno != ENOENT) return cannot("write", path);
  auto fd = open_at(*place, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (!fd) return cannot("write", path, fd.error());
  return fd;
}

Result<void> LocalFiles::append(const std::string& path, std::string_view bytes) {
  auto fd = open_log(path);
  if (!fd) return tl::unexpected(fd.error());
  if (!write_whole(fd->get(), bytes)) return cannot("add to", path);
  note_changed(path);
  return {};
}

// One asks for many: whoever comes while others flush finds that theirs was taken along, or takes along what has
// gathered meanwhile.
Result<void> LocalFiles::flush() {
  std::lock_guard turn(flush_mutex_);
  std::set<std::string> changed;
  {
    std::lock_guard lock(changed_mutex_);
    changed.swap(changed_);
  }
  for (const std::string& path : changed) {
    struct stat st {};
    if (::lstat(path.c_str(), &st) != 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))) continue;
    Descriptor fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd) continue;  // gone again, or not for us to read
    if (::fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) return cannot("write to disk", path);
  }
  return {};
}

// Until it has its owner and mode it is open to nobody, and what has come to its name meanwhile is not touched.
Result<void> LocalFiles::make_directory(const std::string& path, u32 mode, const Ownership& owned) {
  auto ids = ids_of(owned);
  if (!ids) return tl::unexpected(ids.error());
  auto place = find_place(path, false);
  if (!place) return cannot("make directory", path, place.error());
  if (::mkdirat(place->directory.get(), place->name.c_str(), 0700) != 0) return cannot("make directory", path);
  auto made = open_at(*place, O_RDONLY | O_DIRECTORY);
  struct stat st {};
  if (!made || ::fstat(made->get(), &st) != 0) return cannot("make directory", path, made ? errno : made.error().code);
  if (st.st_uid != ::geteuid() || may_be_put_there(*place, *made, st)) return put_there("make directory", path);
  if (ids->any() && ::fchown(made->get(), ids->user, ids->group) != 0) return cannot("change the owner of", path);
  if (::fchmod(made->get(), mode) != 0) return cannot("set the mode of", path);
  note_entry(path);
  note_changed(path);
  return {};
}

Result<void> LocalFiles::make_parents(const std::string& path) {
  std::vector<std::string> missing;
  for (std::size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0;) {
    std::string above = path.substr(0, slash);
    auto there = stat(above, true, false);
    if (!there) return tl::unexpected(there.error());
    if (there->kind == FileState::Kind::kDirectory) break;
    if (there->kind != FileState::Kind::kAbsent) return cannot("make directory", above, ENOTDIR);
    missing.push_back(above);
    slash = above.rfind('/');
  }
  for (; !missing.empty(); missing.pop_back())
    if (auto made = make_directory(missing.back(), 0755, {}); !made && made.error().code != EEXIST) return made;
  return {};
}

Result<void> LocalFiles::make_link(const std::string& path, const std::string& target, const Ownership& owned) {
  auto ids = ids_of(owned);
  if (!ids) return tl::unexpected(ids.error());
  auto place = find_place(path, false);
  if (!place) return cannot("make link", path, place.error());
  int directory = place->directory.get();
  struct stat st {};
  bool replaces = place->look(st) && S_ISLNK(st.st_mode);
  std::string name = replaces ? place->name + std::string(kUnfinished) : place->name;
  bool made = ::symlinkat(target.c_str(), directory, name.c_str()) == 0;
  if (!made && replaces && errno == EEXIST && ::unlinkat(directory, name.c_str(), 0) == 0)  // a dead process's
    made = ::symlinkat(target.c_str(), directory, name.c_str()) == 0;
  if (!made) return cannot("make link", path);
  if (ids->any() && ::fchownat(directory, name.c_str(), ids->user, ids->group, AT_SYMLINK_NOFOLLOW) != 0)
    return cannot("change the owner of", path);
  if (replaces && ::renameat(directory, name.c_str(), directory, place->name.c_str()) != 0)
    return cannot("make link", path);
  note_entry(path);
  return {};
}

Result<void> LocalFiles::remove(const std::string& path, bool tree) {
  auto place = find_place(path, false);
  struct stat st {};
  if (!place && place.error().code == ENOENT) return {};
  if (!place) return cannot("remove", path, place.error());
  if (!place->look(st)) return errno == ENOENT ? Result<void>{} : cannot("remove", path);
  int directory = place->directory.get();
  const char* name = place->name.c_str();
  bool gone = !S_ISDIR(st.st_mode) ? ::unlinkat(directory, name, 0) == 0
              : tree               ? remove_tree(directory, name)
                                   : ::unlinkat(directory, name, AT_REMOVEDIR) == 0;
  int error = errno;
  note_entry(path);
  return gone ? Result<void>{} : cannot("remove", path, error);
}

Result<void> LocalFiles::rename(const std::string& from, const std::string& to) {
  auto old = find_place(from, false), place = find_place(to, false);
  if (!old) return cannot("rename", from, old.error());
  if (!place) return cannot("rename", from, place.error());
  if (::renameat(old->directory.get(), old->name.c_str(), place->directory.get(), place->name.c_str()) != 0)
    return cannot("rename", from);
  note_entry(from);
  note_entry(to);
  return {};
}

Result<void> LocalFiles::set_mode(const std::string& path, u32 mode) {
  constexpr std::string_view kWhat = "set the mode of";
  auto place = find_place(path, true);
  if (!place) return cannot(kWhat, path, place.error());
  auto thing = open_at(*place, O_PATH);
  if (!thing) return cannot(kWhat, path, thing.error());
  struct stat st {};
  if (::fstat(thing->get(), &st) != 0) return cannot(kWhat, path);
  if (may_be_put_there(*place, *thing, st) && (mode & 077 & ~st.st_mode)) return put_there(kWhat, path);
  if (::chmod(by_descriptor(*thing).c_str(), mode) != 0) return cannot(kWhat, path);
  note_changed(path);
  return {};
}

Result<void> LocalFiles::set_owner(const std::string& path, const Ownership& owned, bool follow) {
  constexpr std::string_view kWhat = "change the owner of";
  auto ids = ids_of(owned);
  if (!ids) return tl::unexpected(ids.error());
  auto place = find_place(path, follow);
  if (!place) return cannot(kWhat, path, place.error());
  auto thing = open_at(*place, O_PATH);
  if (!thing) return cannot(kWhat, path, thing.error());
  struct stat st {};
  if (::fstat(thing->get(), &st) != 0) return cannot(kWhat, path);
  bool away = (ids->user != static_cast<uid_t>(-1) && ids->user != st.st_uid) ||
              (ids->group != static_cast<gid_t>(-1) && ids->group != st.st_gid);
  if (away && may_be_put_there(*place, *thing, st)) return put_there(kWhat, path);
  if (::fchownat(thing->get(), "", ids->user, ids->group, AT_EMPTY_PATH) != 0) return cannot(kWhat, path);
  if (follow)
    note_changed(path);
  else
    note_entry(path);  // a link cannot be opened itself
  return {};
}

Result<std::vector<std::string>> LocalFiles::list(const std::string& path) {
  auto place = find_place(path, true);
  if (!place) return cannot("list", path, place.error());
  auto fd = open_at(*place, O_RDONLY | O_DIRECTORY);
  if (!fd) return cannot("list", path, fd.error());
  DIR* dir = ::fdopendir(::dup(fd->get()));
  if (!dir) return cannot("list", path);
  std::vector<std::string> names;
  while (dirent* e = ::readdir(dir)) {
    std::string name = e->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  ::closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tutti
