#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "store/own_directory.h"
#include "store/schema.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace tutti::store {
namespace {

class SqliteStore : public Store {
 public:
  Result<void> open(const std::string& path, bool adopt);

  Result<std::vector<std::string>> systems() override;
  Result<std::optional<SystemRecord>> system(const std::string& name) override;
  Result<Lease> acquire(const std::string& system, const Holder& holder, double seconds) override;
  Result<std::optional<LockInfo>> break_lock(const std::string& system) override;
  Result<void> renew(const Lease& lease) override;
  Result<void> release(const Lease& lease) override;
  Result<void> holds(const Lease& lease) override;
  Result<std::optional<LockInfo>> lock(const std::string& system) override;
  Result<i64> begin(const Lease& lease, const RunRecord& run) override;
  Result<void> append(const Lease& lease, i64 run, std::span<const Entry> entries) override;
  Result<void> finish(const Lease& lease, i64 run, const std::string& status, const std::string& summary,
                      const std::optional<std::string>& state) override;
  Result<void> reopen(const Lease& lease, i64 run) override;
  Result<std::vector<RunRecord>> runs(const std::string& system, std::size_t most) override;
  Result<std::optional<RunRecord>> run(i64 id) override;
  Result<std::string> mark(i64 run) override;
  Result<std::vector<Entry>> entries(i64 run) override;
  Result<void> learn(std::span<const std::pair<std::string, double>> durations) override;
  Result<std::map<std::string, Learnt>> learnt() override;
  std::string fact(const std::string& key) override;
  Result<void> set_fact(const std::string& key, const std::string& value) override;

 private:
  Result<void> open_to_write(const std::string& path, bool adopt);
  Result<void> check_origin(const std::string& path, bool adopt);

  // Inside a transaction: whether the lease still is the one in force.
  Result<void> guard(const Lease& lease);
  Result<std::optional<LockInfo>> holder_of(const std::string& system, i64* fence = nullptr);
  bool seen_over(const std::string& system, const LockInfo& info);

  // When a holder was first seen with these renewals, on waking_clock().
  struct Seen {
    i64 fence = 0, beat = 0;
    double since = 0;
  };
  std::map<std::string, Seen> seen_;

  std::mutex mutex_;  // one connection: a heartbeat thread and the run share it
  std::optional<OwnDirectory> directory_;
  std::string name_;
  Database db_;
};

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

Result<void> SqliteStore::open_to_write(const std::string& path, bool adopt) {
  if (auto r = directory_ ? db_.open(*directory_, name_) : db_.open(path); !r) return r;
  if (auto r = check_origin(path, adopt); !r) return r;
  // FULL: in WAL mode each commit is synced before it returns. Without it the last commits may be gone after a power
  // cut, and an intent that is gone while its action ran is exactly what must not be.
  for (const char* sql : {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON"})
    if (auto r = patiently(db_, sql); !r) return r;
  std::string birth = directory_ ? directory_->birth(name_) : "";
  if (auto r = migrate(db_, path, birth); !r) return r;
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

std::string SqliteStore::fact(const std::string& key) {
  std::lock_guard held(mutex_);
  return store::fact(db_, key);
}

Result<void> SqliteStore::set_fact(const std::string& key, const std::string& value) {
  std::lock_guard held(mutex_);
  return store::set_fact(db_, key, value);
}

Result<std::vector<std::string>> SqliteStore::systems() {
  std::lock_guard held(mutex_);
  std::vector<std::string> out;
  Statement s(db_, "SELECT name FROM system ORDER BY name");
  while (s.step()) out.push_back(s.text(0));
  if (!s.ok()) return db_.broken();
  return out;
}

Result<std::optional<SystemRecord>> SqliteStore::system(const std::string& name) {
  std::lock_guard held(mutex_);
  Statement s(db_, "SELECT name, lineage, serial, state FROM system WHERE name=?");
  s.bind(name);
  if (s.step()) return std::optional(SystemRecord{s.text(0), s.text(1), s.integer(2), s.text(3)});
  if (!s.ok()) return db_.broken();
  return std::optional<SystemRecord>{};
}

constexpr const char* kLockRow =
    "SELECT fence, host, user, command, pid, birth, since, expires, boot, machine, space, seconds, beat, held "
    "FROM lock WHERE system=?";

LockInfo lock_from(const Statement& s) {
  LockInfo info;
  info.fence = s.integer(0);
  info.holder = {s.text(1), s.text(2), s.text(3), s.integer(4), static_cast<u64>(s.integer(5)),
                 s.text(8), s.text(9), s.text(10)};
  info.since = s.real(6);
  info.expires = s.real(7);
  info.seconds = s.real(11);
  info.beat = s.integer(12);
  return info;
}

// Who holds it; a fence that is known although nobody does is in `fence`.
Result<std::optional<LockInfo>> SqliteStore::holder_of(const std::string& system, i64* fence) {
  Statement s(db_, kLockRow);
  s.bind(system);
  if (!s.step()) {
    if (!s.ok()) return db_.broken();
    return std::optional<LockInfo>{};
  }
  if (fence) *fence = s.integer(0);
  if (s.integer(13) != 1) return std::optional<LockInfo>{};
  return std::optional(lock_from(s));
}

Result<std::optional<LockInfo>> SqliteStore::lock(const std::string& system) {
  std::lock_guard held(mutex_);
  return holder_of(system);
}

// Whether it was seen that the holder has not renewed its lease for as long as that lasts.
bool SqliteStore::seen_over(const std::string& system, const LockInfo& info) {
  double now = waking_clock();
  Seen& seen = seen_[system];
  if (seen.fence != info.fence || seen.beat != info.beat) seen = {info.fence, info.beat, now};
  return now - seen.since >= info.seconds;
}

Result<Lease> SqliteStore::acquire(const std::string& system, const Holder& holder, double seconds) {
  std::lock_guard held(mutex_);
  auto refused = [&](const LockInfo& info) {
    bool unseen = life_of(info.holder) == Life::kUnknown;
    return failure(fmt::format("{} is in use by {}{}", system, describe(info, wall_clock()),
                               unseen ? "; where that is gone for good: tutti resume --break-lock" : ""),
                   kHeld);
  };
  auto may_take = [&](const std::optional<LockInfo>& info) {
    return !info || life_of(info->holder) == Life::kGone || seen_over(system, *info);
  };
  // Whoever is refused does not wait for those who write.
  auto before = holder_of(system);
  if (!before) return tl::unexpected(before.error());
  if (!may_take(*before)) return refused(**before);
  // A holder that is only stopped would go on where it was, with the database's locks in its hands.
  if (*before) end_holder((*before)->holder);
  double taken = sleepless_clock(), now = wall_clock();
  Transaction t(db_);
  if (!t.began()) return db_.broken();
  i64 fence = 0;
  auto there = holder_of(system, &fence);
  if (!there) return tl::unexpected(there.error());
  if (!may_take(*there)) return refused(**there);
  Statement s(db_, "INSERT OR REPLACE INTO lock VALUES(?,?,1,?,?,?,?,?,?,?,?,?,?,?,0)");
  s.all(system, fence + 1, holder.host, holder.user, holder.command, holder.pid, static_cast<i64>(holder.birth), now,
        now + seconds, holder.boot, holder.machine, holder.space, seconds);
  if (!s.run()) return db_.broken();
  if (auto r = t.commit(); !r) return tl::unexpected(r.error());
  return Lease{system, fence + 1, seconds, taken};
}

Result<std::optional<LockInfo>> SqliteStore::break_lock(const std::string& system) {
  std::lock_guard held(mutex_);
  Transaction t(db_);
  if (!t.began()) return db_.broken();
  auto there = holder_of(system);
  if (!there || !*there) return there;
  Statement s(db_, "UPDATE lock SET held=0, fence=fence+1 WHERE system=?");
  if (!s.all(system).run()) return db_.broken();
  if (auto r = t.commit(); !r) return tl::unexpected(r.error());
  return there;
}

Result<void> SqliteStore::guard(const Lease& lease) {
  Statement s(db_, "SELECT fence, held FROM lock WHERE system=?");
  s.bind(lease.system);
  if (s.step() && s.integer(0) == lease.fence && s.integer(1) == 1) return {};
  if (!s.ok()) return db_.broken();
  return failure(
      fmt::format("the lease on {} was lost: somebody else took it over; nothing more is done", lease.system), kFenced);
}

Result<void> SqliteStore::holds(const Lease& lease) {
  std::lock_guard held(mutex_);
  return guard(lease);
}

Result<void> SqliteStore::renew(const Lease& lease) {
  std::lock_guard held(mutex_);
  Transaction t(db_);
  if (!t.began()) return db_.broken();
  if (auto r = guard(lease); !r) return r;
  Statement s(db_, "UPDATE lock SET expires=?, beat=beat+1 WHERE system=?");
  if (!s.all(wall_clock() + lease.seconds, lease.system).run()) return db_.broken();
  return t.commit();
}

Result<void> SqliteStore::release(const Lease& lease) {
  std::lock_guard held(mutex_);
  Statement s(db_, "UPDATE lock SET held=0 WHERE system=? AND fence=?");
  if (!s.all(lease.system, lease.fence).run()) return db_.broken();
  return {};
}

Result<i64> SqliteStore::begin(const Lease& lease, const RunRecord& run) {
  std::lock_guard held(mutex_);
  Transaction t(db_);
  if (!t.began()) return db_.broken();
  if (auto r = guard(lease); !r) return tl::unexpected(r.error());
  i64 serial = 0;
  bool known = false;
  {
    Statement s(db_, "SELECT serial FROM system WHERE name=?");
    s.bind(lease.system);
    if (s.step()) serial = s.integer(0), known = true;
    if (!s.ok()) return db_.broken();
  }
  if (serial != run.base_serial)
    return failure(fmt::format("the plan was made against state {} of {}, which is at {} now", run.base_serial,
                               lease.system, serial),
                   kStale);
  if (!known) {
    Statement s(db_, "INSERT INTO system VALUES(?,?,0,?)");
    if (!s.all(lease.system, random_word(), run.base_state).run()) return db_.broken();
  }
  Statement s(db_,
              "INSERT INTO run(system,kind,status,started,ended,who,base_serial,base_state,plan,wanted,summary,mark) "
              "VALUES(?,?,?,?,0.0,?,?,?,?,?,?,?)");
  s.all(lease.system, run.kind, std::string_view("running"), run.started, run.who, run.base_serial, run.base_state,
        run.plan, run.wanted, run.summary, random_word());
  if (!s.run()) return db_.broken();
  i64 id = db_.last_id();
  if (auto r = t.commit(); !r) return tl::unexpected(r.error());
  return id;
}

Result<void> SqliteStore::append(const Lease& lease, i64 run, std::span<const Entry> entries) {
  if (entries.empty()) return {};
  std::lock_guard held(mutex_);
  Transaction t(db_);
  if (!t.began()) return db_.broken();
  if (auto r = guard(lease); !r) return r;
  i64 next = 1;
  {
    Statement s(db_, "SELECT max(sequence) FROM entry WHERE run=?");
    s.bind(run);
    if (s.step() && !s.null(0)) next = s.integer(0) + 1;
    if (!s.ok()) return db_.broken();
  }
  Statement s(db_, "INSERT INTO entry VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  for (const Entry& e : entries) {
    s.all(run, next++, e.time, static_cast<i64>(e.kind), static_cast<i64>(e.instance), static_cast<i64>(e.transition),
          static_cast<i64>(e.attempt), e.name, e.how, e.code, e.outcome, e.message, e.log, e.outputs, e.changes,
          e.seconds);
    if (!s.run()) return db_.broken();
    s.reset();
  }
  return t.commit();
}

Result<void> SqliteStore::finish(const Lease& lease, i64 run, const std::string& status, const std::string& summary,
                                 const std::optional<std::string>& state) {
  std::lock_guard held(mutex_);
  Transaction t(db_);
  if (!t.began()) return db_.broken();
  if (auto r = guard(lease); !r) return r;
  {
    Statement s(db_, "UPDATE run SET status=?, summary=?, ended=? WHERE id=?");
    if (!s.all(status, summary, wall_clock(), run).run()) return db_.broken();
  }
  if (state) {
    Statement s(db_, "UPDATE system SET serial=serial+1, state=? WHERE name=?");
    if (!s.all(*state, lease.system).run()) return db_.broken();
  }
  return t.commit();
}

Result<void> SqliteStore::reopen(const Lease& lease, i64 run) {
  std::lock_guard held(mutex_);
  Transaction t(db_);
  if (!t.began()) return db_.broken();
  if (auto r = guard(lease); !r) return r;
  i64 last = 0;
  {
    Statement s(db_, "SELECT max(id) FROM run WHERE system=?");
    s.bind(lease.system);
    if (s.step()) last = s.integer(0);
    if (!s.ok()) return db_.broken();
  }
  if (last != run)
    return failure(fmt::format("run {} is not the last one of {}: run {} came after it", run, lease.system, last),
                   kStale);
  Statement s(db_, "UPDATE run SET status='running', ended=0.0 WHERE id=?");
  if (!s.all(run).run()) return db_.broken();
  return t.commit();
}

RunRecord run_from(const Statement& s, bool whole) {
  RunRecord r{s.integer(0), s.text(1),    s.text(2), s.text(3), s.real(4), s.real(5),
              s.text(6),    s.integer(7), "",        "",        "",        s.text(8)};
  if (whole) {
    r.base_state = s.text(9);
    r.plan = s.text(10);
    r.wanted = s.text(11);
  }
  return r;
}

Result<std::vector<RunRecord>> SqliteStore::runs(const std::string& system, std::size_t most) {
  std::lock_guard held(mutex_);
  std::vector<RunRecord> out;
  Statement s(db_,
              "SELECT id,system,kind,status,started,ended,who,base_serial,summary FROM run WHERE ?='' OR system=? "
              "ORDER BY id DESC LIMIT ?");
  s.all(system, system, static_cast<i64>(most));
  while (s.step()) out.push_back(run_from(s, false));
  if (!s.ok()) return db_.broken();
  return out;
}

Result<std::optional<RunRecord>> SqliteStore::run(i64 id) {
  std::lock_guard held(mutex_);
  Statement s(
      db_,
      "SELECT id,system,kind,status,started,ended,who,base_serial,summary,base_state,plan,wanted FROM run WHERE id=?");
  s.bind(id);
  if (s.step()) return std::optional(run_from(s, true));
  if (!s.ok()) return db_.broken();
  return std::optional<RunRecord>{};
}

Result<std::string> SqliteStore::mark(i64 run) {
  std::lock_guard held(mutex_);
  Statement s(db_, "SELECT mark FROM run WHERE id=?");
  s.bind(run);
  if (s.step()) return s.text(0);
  if (!s.ok()) return db_.broken();
  return std::string();
}

Result<std::vector<Entry>> SqliteStore::entries(i64 run) {
  std::lock_guard held(mutex_);
  std::vector<Entry> out;
  Statement s(
      db_,
      "SELECT sequence,time,kind,instance,transition,attempt,name,how,code,outcome,message,log,outputs,changes,seconds "
      "FROM entry WHERE run=? ORDER BY sequence");
  s.bind(run);
  while (s.step()) {
    Entry e;
    e.sequence = s.integer(0);
    e.time = s.real(1);
    e.kind = static_cast<Entry::Kind>(s.integer(2));
    e.instance = static_cast<u32>(s.integer(3));
    e.transition = static_cast<u32>(s.integer(4));
    e.attempt = static_cast<u32>(s.integer(5));
    e.name = s.text(6);
    e.how = s.text(7);
    e.code = s.integer(8);
    e.outcome = s.text(9);
    e.message = s.text(10);
    e.log = s.text(11);
    e.outputs = s.text(12);
    e.changes = s.text(13);
    e.seconds = s.real(14);
    out.push_back(std::move(e));
  }
  if (!s.ok()) return db_.broken();
  return out;
}

// Mean and deviation as they come (Welford), with at most the weight of the last 50, so that they follow a change.
Result<void> SqliteStore::learn(std::span<const std::pair<std::string, double>> durations) {
  if (durations.empty()) return {};
  std::lock_guard held(mutex_);
  Transaction t(db_);
  if (!t.began()) return db_.broken();
  for (auto& [key, seconds] : durations) {
    i64 n = 0;
    double mean = 0, m2 = 0;
    {
      Statement s(db_, "SELECT count, mean, m2 FROM duration WHERE key=?");
      s.bind(key);
      if (s.step()) n = s.integer(0), mean = s.real(1), m2 = s.real(2);
    }
    if (n >= 50) m2 *= 49.0 / static_cast<double>(n), n = 49;
    ++n;
    double d = seconds - mean;
    mean += d / static_cast<double>(n);
    m2 += d * (seconds - mean);
    Statement s(db_, "INSERT OR REPLACE INTO duration VALUES(?,?,?,?,?)");
    if (!s.all(key, n, mean, m2, seconds).run()) return db_.broken();
  }
  return t.commit();
}

Result<std::map<std::string, Learnt>> SqliteStore::learnt() {
  std::lock_guard held(mutex_);
  std::map<std::string, Learnt> out;
  Statement s(db_, "SELECT key, count, mean, m2, last FROM duration");
  while (s.step()) {
    double n = static_cast<double>(s.integer(1));
    out[s.text(0)] = {static_cast<u64>(s.integer(1)), s.real(2), s.real(4), n > 1 ? std::sqrt(s.real(3) / (n - 1)) : 0};
  }
  if (!s.ok()) return db_.broken();
  return out;
}

}  // namespace

bool held(const LockInfo& info, double now) { return life_of(info.holder) != Life::kGone && now < info.expires; }

std::string describe(const LockInfo& info, double now) {
  auto span = [](double s) { return s < 120 ? fmt::format("{:.0f} s", s) : fmt::format("{:.0f} min", s / 60); };
  bool unseen = life_of(info.holder) == Life::kUnknown;
  return fmt::format("`{}` of {}@{}, process {}{}, since {}; its lease ends in {}", info.holder.command,
                     info.holder.user, info.holder.host, info.holder.pid,
                     unseen ? " (whether it lives cannot be seen from here)" : "", span(now - info.since),
                     span(std::max(0.0, info.expires - now)));
}

Result<std::unique_ptr<Store>> open_sqlite(const std::string& path, bool adopt) {
  auto store = std::make_unique<SqliteStore>();
  if (auto r = store->open(path, adopt); !r) return tl::unexpected(r.error());
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace tutti::store
