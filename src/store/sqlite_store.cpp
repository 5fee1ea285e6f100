#include "store/sqlite_store.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "store/integrity.h"
#include "store/schema.h"
#include "store/sqlite_pieces.h"

namespace tutti::store {
namespace {

std::string digest_of(const SystemRecord& r) {
  return store::digest_of("", {r.name, r.lineage, std::to_string(r.serial), r.state});
}
std::string digest_of(const RunRecord& r) {
  return store::digest_of("", {r.system, r.kind, r.who, std::to_string(r.base_serial), r.base_state, r.plan, r.wanted});
}
std::string digest_of(std::string_view before, const Entry& e) {
  return store::digest_of(
      before, {std::to_string(e.sequence), std::to_string(static_cast<int>(e.kind)), std::to_string(e.instance),
               std::to_string(e.transition), std::to_string(e.attempt), e.name, e.how, std::to_string(e.code),
               e.outcome, e.message, e.log, e.outputs, e.changes});
}

}  // namespace

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
  Statement s(db_, "SELECT name, lineage, serial, state, digest FROM system WHERE name=?");
  s.bind(name);
  if (s.step()) {
    SystemRecord r{s.text(0), s.text(1), s.integer(2), s.text(3)};
    if (!s.text(4).empty() && s.text(4) != digest_of(r))
      return failure(fmt::format("the recorded state of {} is damaged: it is not what was written", name), kDamaged);
    SqlitePieces pieces(db_);
    auto state = kept_text(pieces, std::move(r.state));
    if (!state && state.error().code == kDamaged)
      return failure(fmt::format("the recorded state of {} is damaged: {}", name, state.error().message), kDamaged);
    if (!state) return tl::unexpected(state.error());
    r.state = std::move(*state);
    return std::optional(std::move(r));
  }
  if (!s.ok()) return db_.broken();
  return std::optional<SystemRecord>{};
}

namespace {

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

}  // namespace

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
  if (auto r = commit(t); !r) return tl::unexpected(r.error());
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
  if (auto r = commit(t); !r) return tl::unexpected(r.error());
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
  return commit(t);
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
  SqlitePieces pieces(db_);
  RunRecord written = run;
  written.system = lease.system;
  for (std::string* text : {&written.base_state, &written.plan, &written.wanted}) {
    auto kept = keep_text(pieces, *text);
    if (!kept) return tl::unexpected(kept.error());
    *text = std::move(*kept);
  }
  if (!known) {
    SystemRecord first{lease.system, random_word(), 0, written.base_state};
    Statement s(db_, "INSERT INTO system(name, lineage, serial, state, digest) VALUES(?,?,0,?,?)");
    if (!s.all(first.name, first.lineage, first.state, digest_of(first)).run()) return db_.broken();
  }
  Statement s(
      db_,
      "INSERT INTO run(system,kind,status,started,ended,who,base_serial,base_state,plan,wanted,summary,mark,digest) "
      "VALUES(?,?,?,?,0.0,?,?,?,?,?,?,?,?)");
  s.all(lease.system, run.kind, std::string_view("running"), run.started, run.who, run.base_serial, written.base_state,
        written.plan, written.wanted, run.summary, random_word(), digest_of(written));
  if (!s.run()) return db_.broken();
  i64 id = db_.last_id();
  if (auto r = commit(t); !r) return tl::unexpected(r.error());
  return id;
}

Result<void> SqliteStore::append(const Lease& lease, i64 run, std::span<const Entry> entries) {
  if (entries.empty()) return {};
  std::lock_guard held(mutex_);
  Transaction t(db_);
  if (!t.began()) return db_.broken();
  if (auto r = guard(lease); !r) return r;
  i64 next = 1;
  std::string digest;
  {
    Statement s(db_, "SELECT sequence, digest FROM entry WHERE run=? ORDER BY sequence DESC LIMIT 1");
    s.bind(run);
    if (s.step()) next = s.integer(0) + 1, digest = s.text(1);
    if (!s.ok()) return db_.broken();
  }
  Statement s(db_, "INSERT INTO entry VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  for (Entry e : entries) {
    e.sequence = next++;
    digest = digest_of(digest, e);
    s.all(run, e.sequence, e.time, static_cast<i64>(e.kind), static_cast<i64>(e.instance),
          static_cast<i64>(e.transition), static_cast<i64>(e.attempt), e.name, e.how, e.code, e.outcome, e.message,
          e.log, e.outputs, e.changes, e.seconds, digest);
    if (!s.run()) return db_.broken();
    s.reset();
  }
  return commit(t);
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
    SqlitePieces pieces(db_);
    auto kept = keep_text(pieces, *state);
    if (!kept) return tl::unexpected(kept.error());
    SystemRecord next{lease.system, "", 0, std::move(*kept)};
    {
      Statement s(db_, "SELECT lineage, serial FROM system WHERE name=?");
      s.bind(lease.system);
      if (s.step()) next.lineage = s.text(0), next.serial = s.integer(1) + 1;
      if (!s.ok()) return db_.broken();
    }
    Statement s(db_, "UPDATE system SET serial=?, state=?, digest=? WHERE name=?");
    if (!s.all(next.serial, next.state, digest_of(next), next.name).run()) return db_.broken();
  }
  return commit(t);
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
  return commit(t);
}

namespace {

RunRecord run_from(const Statement& s, bool whole) {
  RunRecord r{s.integer(0), s.text(1),    s.text(2), s.text(3), s.real(4), s.real(5),
              s.text(6),    s.integer(7), "",        "",        "",        s.text(8)};
  static constexpr std::string_view kKnown[] = {"running", "done", "failed", "interrupted"};
  r.damaged = std::ranges::find(kKnown, r.status) == std::end(kKnown);
  if (whole) {
    r.base_state = s.text(9);
    r.plan = s.text(10);
    r.wanted = s.text(11);
  }
  return r;
}

}  // namespace

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
  Statement s(db_,
              "SELECT id,system,kind,status,started,ended,who,base_serial,summary,base_state,plan,wanted,digest "
              "FROM run WHERE id=?");
  s.bind(id);
  if (s.step()) {
    RunRecord r = run_from(s, true);
    r.damaged = r.damaged || (!s.text(12).empty() && s.text(12) != digest_of(r));
    SqlitePieces pieces(db_);
    for (std::string* part : {&r.base_state, &r.plan, &r.wanted}) {
      auto whole = kept_text(pieces, *part);
      if (!whole && whole.error().code != kDamaged) return tl::unexpected(whole.error());
      r.damaged = r.damaged || !whole;
      *part = whole ? std::move(*whole) : "";
    }
    return std::optional(std::move(r));
  }
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
      "SELECT sequence,time,kind,instance,transition,attempt,name,how,code,outcome,message,log,outputs,changes,seconds,"
      "digest FROM entry WHERE run=? ORDER BY sequence");
  s.bind(run);
  std::string before;
  bool damaged = false;
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
    std::string written = s.text(15);
    damaged = damaged || e.sequence != static_cast<i64>(out.size()) + 1 ||
              (!written.empty() && written != digest_of(before, e));
    e.damaged = damaged;
    before = std::move(written);
    out.push_back(std::move(e));
  }
  if (!s.ok()) return db_.broken();
  return out;
}

Result<std::size_t> SqliteStore::prune(const Lease& lease, std::span<const i64> runs) {
  std::lock_guard held(mutex_);
  Transaction t(db_);
  if (!t.began()) return db_.broken();
  if (auto r = guard(lease); !r) return tl::unexpected(r.error());
  auto gone = prune_runs(db_, lease.system, runs);
  if (!gone) return gone;
  if (auto r = commit(t); !r) return tl::unexpected(r.error());
  return gone;
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

Result<std::unique_ptr<Store>> open_sqlite(const std::string& path, bool adopt) {
  auto store = std::make_unique<SqliteStore>();
  if (auto r = store->open(path, adopt); !r) return tl::unexpected(r.error());
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace tutti::store
