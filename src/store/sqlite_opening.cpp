#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>
#include <utility>

#include "store/integrity.h"
#include "store/schema.h"
#include "store/sqlite_store.h"

// How a record is opened: its directory and files by descriptor, its age and origin before anything in it is used, and
// what it has lost.
namespace tutti::store {
namespace {

// SQLite itself does not wait where the journal's mode changes: of two who make a record in the same moment one is told
// that it is locked.
Result<void> patiently(Database& db, const char* sql) {
  constexpr int kTimes = 500;
  for (int k = 0;; ++k) {
    auto r = db.execute(sql);
    if (r || (r.error().code & 0xff) != SQLITE_BUSY || k == kTimes) return r;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

// Whoever only looks can do so where nothing can be written: on a disk that is read-only, or full.
Result<void> SqliteStore::open(const std::string& path, bool adopt) {
  if (path != ":memory:") {
    std::size_t slash = path.rfind('/');
    name_ = slash == std::string::npos ? path : path.substr(slash + 1);
    auto own = OwnDirectory::open(slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash));
    if (!own) return tl::unexpected(own.error());
    directory_.emplace(std::move(*own));
    if (auto r = directory_->check(); !r) return r;
  }
  Result<void> opened = open_to_write(path, adopt);
  struct stat database {
  }, log{};
  auto look = [&](const std::string& name, struct stat& s) {
    return ::fstatat(directory_->fd(), name.c_str(), &s, AT_SYMLINK_NOFOLLOW) == 0 && s.st_size > 0;
  };
  if (opened || !directory_ || !look(name_, database)) return opened;
  int code = opened.error().code & 0xff;
  bool ours = opened.error().code < kFenced;
  if (!ours || (code != SQLITE_READONLY && code != SQLITE_CANTOPEN && code != SQLITE_FULL && code != SQLITE_IOERR))
    return opened;
  if (look(name_ + "-wal", log))
    return failure(fmt::format("{}; it cannot be written to, and its last changes are still in {}-wal",
                               opened.error().message, path),
                   opened.error().code);
  if (auto r = db_.open_to_read(code == SQLITE_FULL ? opened.error().message : ""); !r) return r;
  auto standing = standing_of(db_, path);
  if (!standing || !standing->today) return opened;
  return check_origin(path, false);
}

i64 SqliteStore::commits() {
  Statement s(db_, "SELECT commits FROM head");
  return s.step() ? s.integer(0) : 0;
}

Result<void> SqliteStore::commit(Transaction& t) {
  if (auto r = db_.execute("UPDATE head SET commits = commits + 1"); !r) return r;
  i64 number = commits();
  auto r = t.commit();
  if (r && directory_) note_commit(*directory_, number);
  return r;
}

// The whole of a large database is looked through only after a crash: that takes time.
std::string SqliteStore::damage() {
  constexpr i64 kSmall = i64{16} << 20;
  std::lock_guard held(mutex_);
  if (std::exchange(looked_, true) || !directory_) return damage_;
  auto number = [&](const char* sql) {
    Statement s(db_, sql);
    i64 n = s.step() ? s.integer(0) : 0;
    if (!s.ok() && damage_.empty()) damage_ = db_.broken().value().message;
    return n;
  };
  bool small = number("PRAGMA page_count") * number("PRAGMA page_size") <= kSmall;
  if (small || number("SELECT count(*) FROM run WHERE status='running'") > 0) {
    Statement s(db_, "PRAGMA quick_check(1)");
    bool row = s.step();
    if (damage_.empty() && (!row || s.text(0) != "ok"))
      damage_ = fmt::format("the database is damaged: {}", row ? s.text(0) : db_.broken().value().message);
  }
  if (number("SELECT count(*) FROM run WHERE system NOT IN (SELECT name FROM system)") > 0 && damage_.empty())
    damage_ = "the database is damaged: it has runs of systems that it does not have";
  return damage_;
}

Result<void> SqliteStore::open_to_write(const std::string& path, bool adopt) {
  if (auto r = directory_ ? db_.open(*directory_, name_) : db_.open(path); !r) return r;
  if (auto r = check_origin(path, adopt); !r) return r;
  // FULL: in WAL mode each commit is synced before it returns. Without it the last commits may be gone after a power
  // cut, and an intent that is gone while its action ran is exactly what must not be.
  for (const char* sql : {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON"})
    if (auto r = patiently(db_, sql); !r) return r;
  i64 noted = directory_ ? noted_commit(*directory_) : 0;  // before the database is asked: it only grows
  std::string birth = directory_ ? directory_->birth(name_) : "";
  if (auto r = migrate(db_, path, birth); !r) return r;
  if (i64 there = commits(); noted > there) {
    if (adopt)
      note_commit(*directory_, there);
    else
      damage_ = fmt::format("{} has lost its last {} changes: its log ({}-wal) is gone or was cut short", path,
                            noted - there, path);
  }
  return fact(kOrigin) == birth ? Result<void>() : set_fact(kOrigin, birth);
}

// Before anything in it is used or changed. A file that was checked out, unpacked or copied has another inode than the
// one that the record was made in, and whoever made the record cannot know which: so what came with a repository is
// told from what was made here, without a secret that would have to be kept elsewhere.
Result<void> SqliteStore::check_origin(const std::string& path, bool adopt) {
  auto standing = standing_of(db_, path);
  if (!standing) return tl::unexpected(standing.error());
  if (standing->fresh || adopt || !directory_) return {};
  if (standing->version > 1 && fact(kOrigin) == directory_->birth(name_)) return {};
  return failure(fmt::format("the record {} was not made here: it came with a repository, an archive or a copy{}", path,
                             standing->version > 1 ? "" : ", or an older tutti made it"),
                 kFromElsewhere);
}

}  // namespace tutti::store
