#include "store/sqlite.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <cerrno>

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
  const unsigned char* t = ::sqlite3_column_text(s_, column);
  return t ? std::string(reinterpret_cast<const char*>(t), static_cast<std::size_t>(::sqlite3_column_bytes(s_, column)))
           : "";
}

Result<void> Database::open(const std::string& path) {
  path_ = path;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  if (::sqlite3_open_v2(path.c_str(), &db_, flags, nullptr) != SQLITE_OK) return broken();
  ::sqlite3_busy_timeout(db_, 10000);
  return {};
}
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
tl::unexpected<Failure> Database::broken() const {
  if (!db_) return failure("the state database: out of memory");
  int code = ::sqlite3_extended_errcode(db_), system = ::sqlite3_system_errno(db_);
  // It was opened to read only because it could not be written: that is what is wrong.
  if ((code & 0xff) == SQLITE_READONLY && !why_.empty()) return failure(why_, code);
  // A log that cannot grow is an error of input and output for SQLite.
  bool unsure = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
  if ((code & 0xff) == SQLITE_FULL || (unsure && (system == ENOSPC || system == EDQUOT || is_full())))
    return failure(fmt::format("the state database: the disk is full ({})", path_), SQLITE_FULL);
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
