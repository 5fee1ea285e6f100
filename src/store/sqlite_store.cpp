#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>

#include "store/own_directory.h"
#include "store/schema.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace tutti::store {
namespace {

// Birth of a process of this machine (see transport/spawn.h; the store stands below it), 0 when it is no more.
u64 birth_of(i64 pid) {
  FILE* f = std::fopen(fmt::format("/proc/{}/stat", pid).c_str(), "re");
  if (!f) return 0;
  char text[1024];
  std::size_t n = std::fread(text, 1, sizeof text - 1, f);
  std::fclose(f);
  text[n] = 0;
  const char* at = std::strrchr(text, ')');
  if (!at || at[1] == 0 || at[2] == 'Z') return 0;
  unsigned long long birth = 0;
  std::sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &birth);
  return birth;
}

std::string this_host() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

class SqliteStore : public Store {
 public:
  Result<void> open(const std::string& path, bool adopt);

  Result<std::vector<std::string>> systems() override;
  Result<std::optional<SystemRecord>> system(const std::string& name) override;
  Result<Lease> acquire(const std::string& system, const Holder& holder, double seconds) override;
  Result<void> renew(const Lease& lease) override;
  Result<void> release(const Lease& lease) override;
  Result<std::optional<LockInfo>> lock(const std::string& system) override;
  Result<i64> begin(const Lease& lease, const RunRecord& run) override;
  Result<void> append(const Lease& lease, i64 run, std::span<const Entry> entries) override;
  Result<void> finish(const Lease& lease, i64 run, const std::string& status, const std::string& summary,
                      const std::optional<std::string>& state) override;
  Result<void> reopen(const Lease& lease, i64 run) override;
  Result<std::vector<RunRecord>> runs(const std::string& system, std::size_t most) override;
  Result<std::optional<RunRecord>> run(i64 id) override;
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

  std::mutex mutex_;  // one connection: a heartbeat thread and the run share it
  std::optional<OwnDirectory> directory_;
  std::string name_;
  Database db_;
};

constexpr const char* kOrigin = "origin";  // the birth of the file that the record was made in

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

Result<void> SqliteStore::open_to_write(const std::string& path, bool adopt) {
  if (auto r = directory_ ? db_.open(*directory_, name_) : db_.open(path); !r) return r;
  if (auto r = check_origin(path, adopt); !r) return r;
  // FULL: in WAL mode each commit is synced before it returns. Without it the last commits may be gone after a power
  // cut, and an intent that is gone while its action ran is exactly what must not be.
  for (const char* sql : {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON"})
    if (auto r = db_.execute(sql); !r) return r;
  if (auto r = migrate(db_, path); !r) return r;
  std::string birth = directory_ ? directory_->birth(name_) : "";
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

Result<std::optional<LockInfo>> SqliteStore::lock(const std::string& system) {
  std::lock_guard held(mutex_);
  Statement s(db_, "SELECT fence, host, user, command, pid, birth, since, expires FROM lock WHERE system=? AND held=1");
  s.bind(system);
  if (!s.step()) {
    if (!s.ok()) return db_.broken();
    return std::optional<LockInfo>{};
  }
  LockInfo info;
  info.fence = s.integer(0);
  info.holder = {s.text(1), s.text(2), s.text(3), s.integer(4), static_cast<u64>(s.integer(5))};
  info.since = s.real(6);
  info.expires = s.real(7);
  return std::optional(info);
}

Result<Lease> SqliteStore::acquire(const std::string& system, const Holder& holder, double seconds) {
  std::lock_guard held(mutex_);
  Transaction t(db_);
  if (!t.began()) return db_.broken();
  double now = wall_clock();
  i64 fence = 0;
  {
    Statement s(db_, "SELECT fence, held, host, user, command, pid, birth, since, expires FROM lock WHERE system=?");
    s.bind(system);
    if (s.step()) {
      fence = s.integer(0);
      LockInfo info{
          {s.text(2), s.text(3), s.text(4), s.integer(5), static_cast<u64>(s.integer(6))}, s.real(7), s.real(8), fence};
      if (s.integer(1) != 0 && store::held(info, now))
        return failure(fmt::format("{} is in use by {}", system, describe(info, now)), kHeld);
    }
    if (!s.ok()) return db_.broken();
  }
  Statement s(db_, "INSERT OR REPLACE INTO lock VALUES(?,?,1,?,?,?,?,?,?,?)");
  s.all(system, fence + 1, holder.host, holder.user, holder.command, holder.pid, static_cast<i64>(holder.birth), now,
        now + seconds);
  if (!s.run()) return db_.broken();
  if (auto r = t.commit(); !r) return tl::unexpected(r.error());
  return Lease{system, fence + 1, seconds};
}

Result<void> SqliteStore::guard(const Lease& lease) {
  Statement s(db_, "SELECT fence, held FROM lock WHERE system=?");
  s.bind(lease.system);
  if (s.step() && s.integer(0) == lease.fence && s.integer(1) == 1) return {};
  if (!s.ok()) return db_.broken();
  return failure(
      fmt::format("the lease on {} was lost: somebody else took it over; nothing more is written", lease.system),
      kFenced);
}

Result<void> SqliteStore::renew(const Lease& lease) {
  std::lock_guard held(mutex_);
  Transaction t(db_);
  if (!t.began()) return db_.broken();
  if (auto r = guard(lease); !r) return r;
  Statement s(db_, "UPDATE lock SET expires=? WHERE system=?");
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
              "INSERT INTO run(system,kind,status,started,ended,who,base_serial,base_state,plan,wanted,summary) "
              "VALUES(?,?,?,?,0.0,?,?,?,?,?,?)");
  s.all(lease.system, run.kind, std::string_view("running"), run.started, run.who, run.base_serial, run.base_state,
        run.plan, run.wanted, run.summary);
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

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Holder this_process(std::string command) {
  passwd* pw = ::getpwuid(::geteuid());
  i64 pid = ::getpid();
  return {this_host(), pw ? pw->pw_name : std::to_string(::geteuid()), std::move(command), pid, birth_of(pid)};
}

bool held(const LockInfo& info, double now) {
  if (now >= info.expires) return false;
  // A holder on this machine can be asked directly: no need to wait for the lease of a process that was killed.
  return info.holder.host != this_host() || birth_of(info.holder.pid) == info.holder.birth;
}

std::string describe(const LockInfo& info, double now) {
  auto span = [](double s) { return s < 120 ? fmt::format("{:.0f} s", s) : fmt::format("{:.0f} min", s / 60); };
  return fmt::format("`{}` of {}@{}, process {}, since {}; its lease ends in {}", info.holder.command, info.holder.user,
                     info.holder.host, info.holder.pid, span(now - info.since),
                     span(std::max(0.0, info.expires - now)));
}

Result<std::unique_ptr<Store>> open_sqlite(const std::string& path, bool adopt) {
  auto store = std::make_unique<SqliteStore>();
  if (auto r = store->open(path, adopt); !r) return tl::unexpected(r.error());
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace tutti::store
