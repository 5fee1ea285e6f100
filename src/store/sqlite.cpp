#include "store/sqlite.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>

#include "store/own_directory.h"

namespace tutti::store {

Statement::Statement(Database& db, std::string_view sql) {
  code_ = ::sqlite3_prepare_v2(db.get(), sql.data(), static_cast<int>(sql.size()), &s_, nullptr);
}
Statement& Statement::bind(i64 v) {
  ::sqlite3_bind_int64(s_, next_++, v);
  return *this;
}
Statement& Statement::bind(double v) {
  ::sqlite3_bind_double(s_, next_++, v);
  return *this;
}
Statement& Statement::bind(std::string_view v) {
  ::sqlite3_bind_text64(s_, next_++, v.data(), v.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}
Statement& Statement::bind(Blob v) {
  ::sqlite3_bind_blob64(s_, next_++, v.bytes.data(), v.bytes.size(), SQLITE_TRANSIENT);
  return *this;
}
bool Statement::step() {
  if (!s_ || !ok()) return false;
  code_ = ::sqlite3_step(s_);
  return code_ == SQLITE_ROW;
}
bool Statement::run() {
  while (step()) {
  }
  return ok();
}
void Statement::reset() {
  ::sqlite3_reset(s_);
  next_ = 1;
  code_ = SQLITE_OK;
}
std::string Statement::text(int column) const {
  // As they are: of a text these are its bytes, in the encoding of the database, which is UTF-8.
  const void* t = ::sqlite3_column_blob(s_, column);
  return t ? std::string(static_cast<const char*>(t), static_cast<std::size_t>(::sqlite3_column_bytes(s_, column)))
           : "";
}

// ---- files by the descriptor of their directory

namespace {

// SQLite goes by names. Those of a directory that is registered here are looked up in its descriptor.
std::mutex g_directories_mutex;
std::multimap<std::string, int, std::less<>> g_directories;

// The descriptor of the directory that a file lies in, -1 when it is none of ours. `name` gets the file's within it.
int directory_of(const char* path, std::string& name) {
  std::string_view whole = path;
  std::lock_guard lock(g_directories_mutex);
  if (auto it = g_directories.find(whole); it != g_directories.end()) {
    name = ".";
    return it->second;
  }
  std::size_t slash = whole.rfind('/');
  if (slash == std::string_view::npos) return -1;
  auto it = g_directories.find(whole.substr(0, slash));
  if (it == g_directories.end()) return -1;
  name = whole.substr(slash + 1);
  return it->second;
}

int open_own(const char* path, int flags, int mode) {
  std::string name;
  int at = directory_of(path, name);
  if (at < 0) return ::open(path, flags, mode);
  int fd = ::openat(at, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 || name == "." || why_not_own_file(fd).empty()) return fd;
  ::close(fd);
  errno = EPERM;
  return -1;
}

int stat_own(const char* path, struct stat* s) {
  std::string name;
  int at = directory_of(path, name);
  return at < 0 ? ::stat(path, s) : ::fstatat(at, name.c_str(), s, AT_SYMLINK_NOFOLLOW);
}

int unlink_own(const char* path) {
  std::string name;
  int at = directory_of(path, name);
  return at < 0 ? ::unlink(path) : ::unlinkat(at, name.c_str(), 0);
}

void go_by_descriptors() {
  static const bool once = [] {
    sqlite3_vfs* vfs = ::sqlite3_vfs_find("unix");
    auto set = [&](const char* name, auto* function) {
      vfs->xSetSystemCall(vfs, name, reinterpret_cast<sqlite3_syscall_ptr>(function));
    };
    set("open", open_own);
    set("stat", stat_own);
    set("unlink", unlink_own);
    return true;
  }();
  (void)once;
}

}  // namespace

Database::~Database() {
  ::sqlite3_close_v2(db_);
  leave_directory();
}

void Database::leave_directory() {
  if (directory_ < 0) return;
  std::lock_guard lock(g_directories_mutex);
  std::erase_if(g_directories, [&](auto& d) { return d.second == directory_; });
  directory_ = -1;
}

Result<void> Database::open(const std::string& path) {
  path_ = path;
  return open_with(0);
}

Result<void> Database::open(const OwnDirectory& directory, const std::string& name) {
  go_by_descriptors();
  path_ = directory.path() + "/" + name;
  directory_ = directory.fd();
  {
    std::lock_guard lock(g_directories_mutex);
    g_directories.emplace(directory.path(), directory_);
  }
  return open_with(SQLITE_OPEN_NOFOLLOW);
}

Result<void> Database::open_with(int more) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX | more;
  if (::sqlite3_open_v2(path_.c_str(), &db_, flags, nullptr) != SQLITE_OK) return broken();
  ::sqlite3_busy_timeout(db_, 10000);
  // Whoever made the file may have put anything into it: no functions from its schema, no changes of its pages by hand.
  ::sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  ::sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  return execute("PRAGMA cell_size_check=ON");
}
Result<void> Database::open_to_read(std::string why) { return open_to_read(std::string(path_), std::move(why)); }
Result<void> Database::open_to_read(const std::string& path, std::string why) {
  why_ = std::move(why);
  ::sqlite3_close_v2(db_);
  db_ = nullptr;
  std::string uri = "file:";
  for (char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  uri += "?immutable=1";
  int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_FULLMUTEX;
  if (::sqlite3_open_v2(uri.c_str(), &db_, flags, nullptr) != SQLITE_OK) return broken();
  return {};
}
Result<void> Database::execute(const char* sql) {
  if (::sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return broken();
  return {};
}
namespace {

// Who has the log's lock for writing, as the kernel tells it. (To ask for the lock by a descriptor of our own would let
// go of SQLite's, once that is closed.)
std::string writer_of(const std::string& path) {
  constexpr long kWriteLock = 120;  // the byte of the index that is locked
  struct stat index {};
  FILE* locks = ::stat((path + "-shm").c_str(), &index) == 0 ? std::fopen("/proc/locks", "re") : nullptr;
  char line[256];
  long writer = 0;
  while (locks && writer == 0 && std::fgets(line, sizeof line, locks)) {
    long pid = 0, from = 0, to = 0;
    unsigned long inode = 0;
    if (std::sscanf(line, "%*d: POSIX ADVISORY WRITE %ld %*x:%*x:%lu %ld %ld", &pid, &inode, &from, &to) == 4 &&
        inode == index.st_ino && from <= kWriteLock && kWriteLock <= to)
      writer = pid;
  }
  if (locks) std::fclose(locks);
  return writer > 0 ? fmt::format("process {}", writer)
                    : "a process that cannot be seen from here (a container that shares the directory?)";
}

}  // namespace

tl::unexpected<Failure> Database::broken() const {
  if (!db_) return failure("the state database: out of memory");
  int code = ::sqlite3_extended_errcode(db_), system = ::sqlite3_system_errno(db_);
  // It was opened to read only because it could not be written: that is what is wrong.
  if ((code & 0xff) == SQLITE_READONLY && !why_.empty()) return failure(why_, code);
  // A log that cannot grow is an error of input and output for SQLite.
  bool unsure = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
  if ((code & 0xff) == SQLITE_FULL || (unsure && (system == ENOSPC || system == EDQUOT || is_full())))
    return failure(fmt::format("the state database: the disk is full ({})", path_), SQLITE_FULL);
  if ((code & 0xff) == SQLITE_BUSY)
    return failure(
        fmt::format("the state database is being written by {}, which does not go on: end it", writer_of(path_)), code);
  return failure(fmt::format("the state database: {}", ::sqlite3_errmsg(db_)), code);
}

bool Database::is_full() const {
  std::size_t slash = path_.rfind('/');
  struct statvfs disk {};
  std::string directory = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  return ::statvfs(directory.c_str(), &disk) == 0 && disk.f_blocks > 0 &&
         (disk.f_bavail == 0 || (disk.f_files > 0 && disk.f_favail == 0));
}

}  // namespace tutti::store
