// This machine, by system calls.
#include "transport/local.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <netdb.h>
#include <poll.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/file.h"
#include "transport/spawn.h"

extern char** environ;

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLastLineGrace{300};  // what has said its last line may take so long to end

auto refused(std::string_view what, const std::string& path) {
  int code = errno;
  return failure(fmt::format("cannot {} {}: {}", what, path, std::strerror(code)), code);
}

struct Fd {
  int fd = -1;
  Fd() = default;
  explicit Fd(int f) : fd(f) {}
  ~Fd() { reset(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  void reset(int f = -1) {
    if (fd >= 0) ::close(fd);
    fd = f;
  }
};

bool pipe_pair(Fd& read, Fd& write) {
  int p[2];
  if (::pipe2(p, O_CLOEXEC) != 0) return false;
  read.reset(p[0]);
  write.reset(p[1]);
  return true;
}

std::optional<u32> number(std::string_view text) {
  u32 n = 0;
  auto r = std::from_chars(text.data(), text.data() + text.size(), n);
  if (r.ec != std::errc{} || r.ptr != text.data() + text.size()) return std::nullopt;
  return n;
}

// Processes carry the mark of their action in their environment, also those that have left its group.
void end_marked(const std::string& mark) {
  std::string wanted = fmt::format("{}={}", kActionMark, mark);
  for (int round = 0; round < 2; ++round) {  // what is ended may just have started others
    DIR* all = ::opendir("/proc");
    if (!all) return;
    while (dirent* e = ::readdir(all)) {
      pid_t pid = static_cast<pid_t>(std::atoi(e->d_name));
      if (pid <= 1 || pid == ::getpid()) continue;
      auto environment = read_own_file(fmt::format("/proc/{}/environ", pid), u64{1} << 24);
      if (!environment) continue;
      std::size_t at = environment->find(wanted);
      bool begins = at == 0 || (at != std::string::npos && (*environment)[at - 1] == '\0');
      std::size_t end = at + wanted.size();
      if (begins && (end == environment->size() || (*environment)[end] == '\0')) ::kill(pid, SIGKILL);
    }
    ::closedir(all);
  }
}

// Names of users and groups. The C library reads /etc/passwd anew for every question, which is most of the cost of
// looking at many files; names are kept for the few seconds in which such looks come together.
class Names {
 public:
  std::string user(uid_t id) {
    return name(users_, id, [](uid_t u) {
      char buffer[4096];
      passwd pw{}, *found = nullptr;
      return ::getpwuid_r(u, &pw, buffer, sizeof buffer, &found) == 0 && found ? std::string(found->pw_name) : "";
    });
  }
  std::string group(gid_t id) {
    return name(groups_, id, [](gid_t g) {
      char buffer[16384];
      struct group gr {
      }, *found = nullptr;
      return ::getgrgid_r(g, &gr, buffer, sizeof buffer, &found) == 0 && found ? std::string(found->gr_name) : "";
    });
  }

 private:
  struct Known {
    std::string name;
    Clock::time_point until;
  };
  template <class Look>
  std::string name(std::map<u32, Known>& known, u32 id, Look look) {
    std::lock_guard lock(mutex_);
    Known& k = known[id];
    auto now = Clock::now();
    if (k.name.empty() || now > k.until) {
      k.name = look(id);
      if (k.name.empty()) k.name = std::to_string(id);
      k.until = now + std::chrono::seconds(2);
    }
    return k.name;
  }
  std::mutex mutex_;
  std::map<u32, Known> users_, groups_;
};

Result<uid_t> user_id(const std::string& user, gid_t* primary = nullptr, std::string* home = nullptr) {
  std::vector<char> buffer(16384);
  passwd pw{}, *found = nullptr;
  auto as_number = number(user);
  int error = as_number ? ::getpwuid_r(*as_number, &pw, buffer.data(), buffer.size(), &found)
                        : ::getpwnam_r(user.c_str(), &pw, buffer.data(), buffer.size(), &found);
  if (!found && !as_number) return failure(fmt::format("Could not find user {}", user), error ? error : ENOENT);
  if (primary) *primary = found ? found->pw_gid : *as_number;
  if (home && found) *home = found->pw_dir;
  return found ? found->pw_uid : static_cast<uid_t>(*as_number);
}

Result<gid_t> group_id(const std::string& group) {
  if (auto n = number(group)) return *n;
  std::vector<char> buffer(65536);
  struct group gr {
  }, *found = nullptr;
  ::getgrnam_r(group.c_str(), &gr, buffer.data(), buffer.size(), &found);
  if (!found) return failure(fmt::format("Could not find group {}", group), ENOENT);
  return found->gr_gid;
}

Result<SpawnSpec> spec_of(const Command& command) {
  SpawnSpec spec;
  spec.argv = command.argv;
  spec.cwd = command.cwd;
  spec.umask = command.umask;
  std::map<std::string, std::string> env;
  if (command.own_environment)
    for (char** e = environ; *e; ++e) {
      std::string_view text(*e);
      std::size_t eq = text.find('=');
      if (eq != std::string_view::npos) env[std::string(text.substr(0, eq))] = text.substr(eq + 1);
    }
  if (!command.user.empty() || !command.group.empty()) {
    std::string home;
    spec.change_user = true;
    spec.uid = ::geteuid();
    spec.gid = ::getegid();
    if (!command.user.empty()) {
      auto uid = user_id(command.user, &spec.gid, &home);
      if (!uid) return tl::unexpected(uid.error());
      spec.uid = *uid;
      if (!home.empty()) env["HOME"] = home;
      env["USER"] = env["LOGNAME"] = command.user;
    }
    if (!command.group.empty()) {
      auto gid = group_id(command.group);
      if (!gid) return tl::unexpected(gid.error());
      spec.gid = *gid;
    }
    spec.groups = {spec.gid};
    if (!command.user.empty() && !number(command.user)) {
      int n = 64;
      spec.groups.resize(64);
      if (::getgrouplist(command.user.c_str(), spec.gid, spec.groups.data(), &n) < 0) {
        spec.groups.resize(static_cast<std::size_t>(n));
        ::getgrouplist(command.user.c_str(), spec.gid, spec.groups.data(), &n);
      }
      spec.groups.resize(static_cast<std::size_t>(n));
    }
    if (spec.uid == ::geteuid() && spec.gid == ::getegid()) spec.change_user = false;
  }
  for (std::string_view name : command.without) env.erase(std::string(name));
  for (auto& [name, value] : command.environment) env[name] = value;
  if (auto path = env.find("PATH"); path != env.end()) spec.search = path->second;
  for (auto& [name, value] : env) spec.environment.push_back(name + "=" + value);
  return spec;
}

class Here : public Host {
 public:
  explicit Here(std::string where) : where_(std::move(where)) {}
  std::string_view name() const override { return "here"; }
  CommandResult run(const Command& command) override;
  Result<FileState> stat(const std::string& path, bool follow, bool digest) override;
  Result<std::string> read(const std::string& path) override;
  Result<void> write(const std::string& path, std::string_view bytes, u32 mode) override;
  Result<void> append(const std::string& path, std::string_view bytes) override;
  Result<void> make_directory(const std::string& path, u32 mode) override;
  Result<void> make_link(const std::string& path, const std::string& target) override;
  Result<void> remove(const std::string& path, bool tree) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> set_mode(const std::string& path, u32 mode) override;
  Result<void> set_owner(const std::string& path, const std::string& user, const std::string& group,
                         bool follow) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;
  Result<Started> start(const Daemon& daemon) override;
  Result<bool> alive(const DaemonIdentity& id) override {
    u64 birth = process_birth(static_cast<pid_t>(id.pid));
    return birth != 0 && (id.birth == 0 || birth == id.birth);
  }
  Result<void> signal(const DaemonIdentity& id, int signal) override;
  bool connects(const std::string& address, u16 port, milliseconds timeout) override;
  Result<void> flush() override;

 private:
  // What is on disk only after a flush: a directory whose entries, or a file whose owner or mode, are others now.
  void note_changed(std::string path) {
    std::lock_guard lock(changed_mutex_);
    changed_.insert(std::move(path));
  }
  void note_entry(const std::string& path) {
    std::size_t slash = path.rfind('/');
    note_changed(slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash));
  }
  std::string where_;  // commands begin here that say nothing else
  Names names_;
  std::mutex changed_mutex_, flush_mutex_;
  std::set<std::string> changed_;
};

namespace {

// Looks for the line that a stream ends with, wherever the pieces that it comes in begin.
class LastLine {
 public:
  explicit LastLine(const std::string& word) : begin_(word.empty() ? "" : "\n" + word + " ") {}
  void see(std::string_view piece) {
    if (begin_.empty() || found_) return;
    recent_ += piece;
    std::size_t at = recent_.find(begin_), end = at == std::string::npos ? at : recent_.find('\n', at + 1);
    if (end != std::string::npos)
      found_ = recent_.substr(at + begin_.size(), end - at - begin_.size());
    else if (at == std::string::npos && recent_.size() > begin_.size())
      recent_.erase(0, recent_.size() - begin_.size());
  }
  const std::optional<std::string>& found() const { return found_; }

 private:
  std::string begin_, recent_;
  std::optional<std::string> found_;
};

}  // namespace

CommandResult Here::run(const Command& command) {
  CommandResult result;
  auto not_started = [&](std::string why) {
    result.end = CommandResult::End::kNotStarted;
    result.message = std::move(why);
    return result;
  };
  auto spec = spec_of(command);
  if (!spec) return not_started(spec.error().message);
  if (!where_.empty() && !spec->cwd.starts_with('/'))
    spec->cwd = spec->cwd.empty() ? where_ : fmt::format("{}/{}", where_, spec->cwd);
  Fd in_r, in_w, out_r, out_w, err_r, err_w;
  if (!pipe_pair(out_r, out_w) || !pipe_pair(err_r, err_w) || (!command.input.empty() && !pipe_pair(in_r, in_w)))
    return not_started(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  spec->in = in_r.fd;
  spec->out = out_w.fd;
  spec->err = err_w.fd;
  auto pid = spawn(*spec);
  if (!pid) return not_started(pid.error().message);
  in_r.reset();
  out_w.reset();
  err_w.reset();
  for (Fd* f : {&in_w, &out_r, &err_r})
    if (f->fd >= 0) ::fcntl(f->fd, F_SETFL, O_NONBLOCK);

  Fd ended(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
  std::size_t written = 0;
  LastLine last_out(command.last_line), last_err(command.last_line);
  auto take = [&](Fd& from, std::string& to, LastLine& last) {
    char buffer[65536];
    for (;;) {
      ssize_t n = ::read(from.fd, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return;
      if (n == 0) return from.reset();
      last.see({buffer, static_cast<std::size_t>(n)});
      u64 room = command.most_output > to.size() ? command.most_output - to.size() : 0;
      u64 keep = std::min<u64>(room, static_cast<u64>(n));
      to.append(buffer, keep);
      result.dropped += static_cast<u64>(n) - keep;
    }
  };
  auto start = Clock::now();
  bool timed_out = false, cancelled = false, killed = false;
  Clock::time_point kill_at{};
  std::optional<Clock::time_point> over;  // both streams are, and it will end by itself unless somebody keeps them open
  for (;;) {
    pollfd fds[5];
    nfds_t n = 0;
    auto watch = [&](int fd, short events) { fds[n++] = {fd, events, 0}; };
    watch(ended.fd, POLLIN);
    if (out_r.fd >= 0) watch(out_r.fd, POLLIN);
    if (err_r.fd >= 0) watch(err_r.fd, POLLIN);
    if (in_w.fd >= 0) watch(in_w.fd, POLLOUT);
    if (command.cancel && !cancelled && !timed_out) watch(command.cancel->fd(), POLLIN);
    auto now = Clock::now();
    std::optional<Clock::time_point> wake;
    if (timed_out || cancelled) {
      if (!killed) wake = kill_at;
    } else if (over) {
      wake = *over + kLastLineGrace;
    } else if (command.timeout.count() > 0) {
      wake = start + command.timeout;
    }
    int wait = -1;
    if (wake) {
      auto left = std::chrono::ceil<milliseconds>(*wake - now).count();
      wait = static_cast<int>(std::clamp<i64>(left, 0, 1 << 30));
    }
    ::poll(fds, n, wait);
    if (out_r.fd >= 0) take(out_r, result.out, last_out);
    if (err_r.fd >= 0) take(err_r, result.err, last_err);
    if (in_w.fd >= 0) {
      ssize_t w = ::write(in_w.fd, command.input.data() + written, command.input.size() - written);
      if (w > 0) written += static_cast<std::size_t>(w);
      if (written == command.input.size() || (w < 0 && errno != EAGAIN && errno != EINTR)) in_w.reset();
    }
    if (fds[0].revents) break;
    now = Clock::now();
    if (!over && last_out.found() && last_err.found()) over = now;
    if (over && !timed_out && !cancelled) {
      if (now < *over + kLastLineGrace) continue;
      ::kill(-*pid, SIGKILL);
      break;
    }
    if (!timed_out && !cancelled) {
      cancelled = command.cancel && command.cancel->raised();
      timed_out = !cancelled && command.timeout.count() > 0 && now >= start + command.timeout;
      if (timed_out || cancelled) {
        ::kill(-*pid, SIGTERM);
        kill_at = now + command.grace;
      }
    } else if (!killed && now >= kill_at) {
      ::kill(-*pid, SIGKILL);
      killed = true;
    }
  }
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  // What it left behind in its group goes too when it was we who ended it. Otherwise it may have started something that
  // stays, and that still holds the pipes: what has been written by now is all there will be.
  if (timed_out || cancelled) {
    ::kill(-*pid, SIGKILL);
    for (auto& [name, value] : command.environment)
      if (name == kActionMark && !command.launches) end_marked(value);
  }
  if (out_r.fd >= 0) take(out_r, result.out, last_out);
  if (err_r.fd >= 0) take(err_r, result.err, last_err);
  result.last_line = last_err.found();
  if (timed_out) {
    result.end = CommandResult::End::kTimedOut;
    result.message = fmt::format("did not end in {} s", static_cast<double>(command.timeout.count()) / 1000);
  } else if (cancelled) {
    result.end = CommandResult::End::kCancelled;
  } else if (WIFSIGNALED(status)) {
    result.end = CommandResult::End::kSignalled;
    result.code = WTERMSIG(status);
  } else {
    result.end = CommandResult::End::kExited;
    result.code = WEXITSTATUS(status);
  }
  return result;
}

// A pipe, a socket or a terminal would keep whoever reads it waiting for ever.
Result<std::string> Here::read(const std::string& path) {
  struct stat st {};
  bool null = ::stat(path.c_str(), &st) == 0 && S_ISCHR(st.st_mode) && path == "/dev/null";
  if (st.st_mode != 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !null)
    return failure(fmt::format("cannot read {}: it is neither a file nor a directory nor a link to one", path), EINVAL);
  return read_own_file(path, u64{1} << 31);
}

Result<FileState> Here::stat(const std::string& path, bool follow, bool digest) {
  FileState s;
  struct stat st {};
  int r = follow ? ::stat(path.c_str(), &st) : ::lstat(path.c_str(), &st);
  if (r != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return s;
    return refused("look at", path);
  }
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
    ssize_t n = ::readlink(path.c_str(), target.data(), target.size());
    if (n < 0) return refused("read link", path);
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

namespace {

// A new file that nobody else writes, locked as long as it is open. One that is there is a dead process's, which goes,
// or somebody is at work on it, who is waited for.
int open_unfinished(const std::string& beside) {
  for (;;) {
    int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct stat ours {
    }, there{};
    if (fd >= 0) {
      bool same = ::flock(fd, LOCK_EX) == 0 && ::fstat(fd, &ours) == 0 && ::lstat(beside.c_str(), &there) == 0 &&
                  ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
      if (same) return fd;
      ::close(fd);  // taken for a dead process's before it was locked
      continue;
    }
    if (errno != EEXIST) return -1;
    Fd other(::open(beside.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (other.fd < 0 && errno == ENOENT) continue;
    // In a directory of everybody's somebody else's file could be held for ever.
    bool mine = other.fd >= 0 && ::fstat(other.fd, &ours) == 0 && ours.st_uid == ::geteuid();
    if (mine) ::flock(other.fd, LOCK_EX);
    if (::lstat(beside.c_str(), &there) != 0) continue;
    // It has become what it was for, and there is a newer one.
    if (mine && ours.st_ino != there.st_ino) continue;
    if (::unlink(beside.c_str()) != 0 && errno != ENOENT) return -1;
  }
}

}  // namespace

Result<void> Here::write(const std::string& path, std::string_view bytes, u32 mode) {
  std::string beside = fmt::format("{}{}", path, kUnfinished);
  Fd fd(open_unfinished(beside));
  if (fd.fd < 0) return refused("write", path);
  auto give_up = [&] {
    auto f = refused("write", path);
    ::unlink(beside.c_str());
    return f;
  };
  for (std::size_t at = 0; at < bytes.size();) {
    ssize_t n = ::write(fd.fd, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return give_up();
    at += static_cast<std::size_t>(n);
  }
  // Who owned the old one owns the new one.
  struct stat old {};
  if (::stat(path.c_str(), &old) == 0 && (old.st_uid != ::geteuid() || old.st_gid != ::getegid())) [[maybe_unused]]
    int ignored = ::fchown(fd.fd, old.st_uid, old.st_gid);
  if (::fchmod(fd.fd, mode) != 0) return give_up();
  // The name must never lead to less than the whole content, whenever the power goes.
  if (::fdatasync(fd.fd) != 0 && errno != EINVAL && errno != EROFS) return give_up();
  if (::rename(beside.c_str(), path.c_str()) != 0) return give_up();
  note_entry(path);
  return {};
}

Result<void> Here::append(const std::string& path, std::string_view bytes) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (fd.fd < 0) return refused("add to", path);
  for (std::size_t at = 0; at < bytes.size();) {
    ssize_t n = ::write(fd.fd, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno != EINTR) return refused("add to", path);
    at += n < 0 ? 0 : static_cast<std::size_t>(n);
  }
  note_changed(path);
  return {};
}

// One asks for many: whoever comes while others flush finds that theirs was taken along, or takes along what has
// gathered meanwhile.
Result<void> Here::flush() {
  std::lock_guard turn(flush_mutex_);
  std::set<std::string> changed;
  {
    std::lock_guard lock(changed_mutex_);
    changed.swap(changed_);
  }
  for (const std::string& path : changed) {
    struct stat st {};
    if (::lstat(path.c_str(), &st) != 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))) continue;
    Fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC));
    if (fd.fd < 0) continue;  // gone again, or not for us to read
    if (::fsync(fd.fd) != 0 && errno != EINVAL && errno != EROFS) return refused("write to disk", path);
  }
  return {};
}

Result<void> Here::make_directory(const std::string& path, u32 mode) {
  if (::mkdir(path.c_str(), mode) != 0) return refused("make directory", path);
  if (::chmod(path.c_str(), mode) != 0) return refused("set the mode of", path);
  note_entry(path);
  note_changed(path);
  return {};
}

Result<void> Here::make_link(const std::string& path, const std::string& target) {
  struct stat st {};
  if (::lstat(path.c_str(), &st) == 0 && S_ISLNK(st.st_mode)) {
    std::string beside = fmt::format("{}{}", path, kUnfinished);
    bool made = ::symlink(target.c_str(), beside.c_str()) == 0;
    if (!made && errno == EEXIST && ::unlink(beside.c_str()) == 0)  // a dead process's
      made = ::symlink(target.c_str(), beside.c_str()) == 0;
    if (!made) return refused("make link", path);
    if (::rename(beside.c_str(), path.c_str()) != 0) return refused("make link", path);
    note_entry(path);
    return {};
  }
  if (::symlink(target.c_str(), path.c_str()) != 0) return refused("make link", path);
  note_entry(path);
  return {};
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

Result<void> Here::remove(const std::string& path, bool tree) {
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0) return errno == ENOENT ? Result<void>{} : refused("remove", path);
  if (!S_ISDIR(st.st_mode)) {
    if (::unlink(path.c_str()) != 0) return refused("remove", path);
    note_entry(path);
    return {};
  }
  bool ok = tree ? remove_tree(AT_FDCWD, path.c_str()) : ::rmdir(path.c_str()) == 0;
  note_entry(path);
  if (!ok) return refused("remove", path);
  return {};
}

Result<void> Here::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return refused("rename", from);
  note_entry(from);
  note_entry(to);
  return {};
}

Result<void> Here::set_mode(const std::string& path, u32 mode) {
  if (::chmod(path.c_str(), mode) != 0) return refused("set the mode of", path);
  note_changed(path);
  return {};
}

Result<void> Here::set_owner(const std::string& path, const std::string& user, const std::string& group, bool follow) {
  uid_t uid = static_cast<uid_t>(-1);
  gid_t gid = static_cast<gid_t>(-1);
  if (!user.empty()) {
    auto id = user_id(user);
    if (!id) return tl::unexpected(id.error());
    uid = *id;
  }
  if (!group.empty()) {
    auto id = group_id(group);
    if (!id) return tl::unexpected(id.error());
    gid = *id;
  }
  if ((follow ? ::chown(path.c_str(), uid, gid) : ::lchown(path.c_str(), uid, gid)) != 0)
    return refused("change the owner of", path);
  if (follow)
    note_changed(path);
  else
    note_entry(path);  // a link cannot be opened itself
  return {};
}

Result<std::vector<std::string>> Here::list(const std::string& path) {
  DIR* dir = ::opendir(path.c_str());
  if (!dir) return refused("list", path);
  std::vector<std::string> names;
  while (dirent* e = ::readdir(dir)) {
    std::string name = e->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  ::closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

// Waits for a daemon until nobody asks any more how it ended.
struct Launcher {
  Cancel cancel;
  CommandResult result;
  std::atomic<bool> over = false;
  std::thread thread;
  ~Launcher() {
    cancel.raise();
    if (thread.joinable()) thread.join();
  }
};

// The daemon must outlive us and be nobody's zombie: a shell starts it in the background and ends once it is known to
// last, so that it becomes init's child. The pid file is written by the daemon's own shell before it becomes the
// daemon: there is no moment at which it runs and is not on file.
Result<Started> Here::start(const Daemon& daemon) {
  Started started;
  for (const std::string& file : {daemon.pid_file, daemon.log_file}) {
    std::error_code wrong;
    std::filesystem::path folder = std::filesystem::path(file).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, wrong);
    if (wrong)
      return failure(fmt::format("cannot make directory {}: {}", folder.string(), wrong.message()), wrong.value());
  }
  if (daemon.log_file.starts_with('/')) {
    Fd log(::open(daemon.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (log.fd < 0) return refused("write", daemon.log_file);
    if (off_t size = ::lseek(log.fd, 0, SEEK_END); size > 0) started.log_from = static_cast<u64>(size);
  }
  Command c = daemon.command;
  // It becomes another user's once its number is on file: the files are ours.
  std::string words = " " + as_somebody(c);
  c.user = c.group = {};
  for (auto& a : daemon.command.argv) words += " " + shell_quote(a);
  std::string script = fmt::format(
      "setsid sh -c 'b=$(sed \"s/.*) //\" /proc/$$/stat | cut -d\" \" -f20); echo \"$$ $b $TUTTI_TAG\" > "
      "\"$TUTTI_PID_FILE\";"
      " unset TUTTI_PID_FILE TUTTI_TAG TUTTI_ACTION; exec \"$@\"' daemon{} </dev/null >>{} 2>&1 & wait $!",
      words, daemon.log_file.empty() ? "/dev/null" : shell_quote(daemon.log_file));
  c.argv = {"/bin/sh", "-c", script};
  c.environment.emplace_back("TUTTI_PID_FILE", daemon.pid_file);
  c.environment.emplace_back("TUTTI_TAG", daemon.tag.empty() ? "-" : daemon.tag);
  ::unlink(daemon.pid_file.c_str());
  auto launcher = std::make_shared<Launcher>();
  c.cancel = &launcher->cancel;
  c.launches = true;
  c.timeout = milliseconds(0);
  launcher->thread = std::thread([this, c, &l = *launcher] {
    l.result = run(c);
    l.over = true;
  });
  started.how = [launcher] {
    for (int i = 0; i < 100 && !launcher->over; ++i) ::usleep(2000);  // it is dead, and the shell is told so at once
    if (!launcher->over || launcher->result.end != CommandResult::End::kExited) return std::string();
    return how_shell_says(launcher->result.code);
  };
  for (int i = 0; i < 500; ++i) {
    bool over = launcher->over;
    auto id = read_pid_file(daemon.pid_file);
    if (!id) return tl::unexpected(id.error());
    if (*id && (*id)->birth != 0) {
      started.identity = **id;
      std::this_thread::sleep_for(daemon.settle);
      auto lasts = alive(started.identity);
      started.ended = !lasts || !*lasts;
      return started;
    }
    if (over) {
      const CommandResult& r = launcher->result;
      return failure(fmt::format("cannot start {}: {}", daemon.command.argv.empty() ? "" : daemon.command.argv[0],
                                 r.err.empty() ? r.describe() : r.err));
    }
    ::usleep(2000);
  }
  return failure(fmt::format("{} did not write its number to {}", daemon.command.argv[0], daemon.pid_file));
}

Result<void> Here::signal(const DaemonIdentity& id, int signal) {
  auto pid = static_cast<pid_t>(id.pid);
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (fd.fd < 0) return {};
  if (id.birth != 0 && process_birth(pid) != id.birth) return {};
  if (::getpgid(pid) == pid) {
    ::kill(-pid, signal);
    return {};
  }
  if (::syscall(SYS_pidfd_send_signal, fd.fd, signal, nullptr, 0) != 0 && errno != ESRCH)
    return failure(fmt::format("cannot signal process {}: {}", pid, std::strerror(errno)), errno);
  return {};
}

bool Here::connects(const std::string& address, u16 port, milliseconds timeout) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return false;
  bool yes = false;
  for (addrinfo* a = found; a && !yes; a = a->ai_next) {
    Fd fd(::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd.fd < 0) continue;
    if (::connect(fd.fd, a->ai_addr, a->ai_addrlen) == 0) {
      yes = true;
    } else if (errno == EINPROGRESS) {
      pollfd p{fd.fd, POLLOUT, 0};
      int error = 0;
      socklen_t size = sizeof error;
      yes = ::poll(&p, 1, static_cast<int>(timeout.count())) == 1 &&
            ::getsockopt(fd.fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
    }
  }
  ::freeaddrinfo(found);
  return yes;
}

}  // namespace

std::unique_ptr<Host> here() { return here_in(""); }

std::unique_ptr<Host> here_in(std::string where) { return std::make_unique<Here>(std::move(where)); }

}  // namespace tutti
