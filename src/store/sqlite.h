#pragma once

#include <sqlite3.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"

// As much of SQLite as the store needs: a connection, statements that bind by position, transactions that end
// themselves.
namespace tutti::store {

class Database;
class OwnDirectory;

// Bytes that are no text.
struct Blob {
  std::string_view bytes;
};

class Statement {
 public:
  Statement(Database& db, std::string_view sql);
  ~Statement() { ::sqlite3_finalize(s_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(i64 v);
  Statement& bind(double v);
  Statement& bind(std::string_view v);
  Statement& bind(Blob v);
  template <class... T>
  Statement& all(const T&... v) {
    (bind(v), ...);
    return *this;
  }
  // True when there is a row. An error ends it and is kept for ok().
  bool step();
  bool run();  // to its end
  bool ok() const { return code_ == SQLITE_OK || code_ == SQLITE_ROW || code_ == SQLITE_DONE; }
  void reset();

  i64 integer(int column) const { return ::sqlite3_column_int64(s_, column); }
  double real(int column) const { return ::sqlite3_column_double(s_, column); }
  std::string text(int column) const;  // or bytes
  bool null(int column) const { return ::sqlite3_column_type(s_, column) == SQLITE_NULL; }

 private:
  sqlite3_stmt* s_ = nullptr;
  int next_ = 1;
  int code_ = SQLITE_OK;
};

class Database {
 public:
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  ~Database();
  Result<void> open(const std::string& path);
  // A file of this directory: it, its log and its index are opened by the directory's descriptor, and only when they
  // are our own. The directory must stay open as long as the database is.
  Result<void> open(const OwnDirectory& directory, const std::string& name);
  // A file that nobody changes meanwhile; `why` it cannot be written is told whoever tries.
  Result<void> open_to_read(std::string why);
  Result<void> open_to_read(const std::string& path, std::string why);
  Result<void> execute(const char* sql);
  tl::unexpected<Failure> broken() const;  // what SQLite says went wrong
  sqlite3* get() const { return db_; }
  i64 last_id() const { return ::sqlite3_last_insert_rowid(db_); }
  int changes() const { return ::sqlite3_changes(db_); }

 private:
  bool is_full() const;
  Result<void> open_with(int flags);
  void leave_directory();
  sqlite3* db_ = nullptr;
  std::string path_, why_;
  int directory_ = -1;  // the descriptor that its files are opened by
};

// Taken at once for writing, so that what it reads is what its writes are based on. Rolled back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& db) : db_(db), began_(db.execute("BEGIN IMMEDIATE").has_value()) {}
  ~Transaction() {
    if (began_) [[maybe_unused]]
      auto r = db_.execute("ROLLBACK");
  }
  bool began() const { return began_; }
  Result<void> commit() {
    auto r = db_.execute("COMMIT");
    if (r) began_ = false;
    return r;
  }

 private:
  Database& db_;
  bool began_;
};

}  // namespace tutti::store
