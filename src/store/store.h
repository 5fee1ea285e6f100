#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "store/holder.h"

// What is remembered between calls: the state of each system, its runs with their journals, who holds it, how long
// things took. Narrow on purpose: everything is a keyed read or a write under a lease, so that a replicated store can
// stand behind the same interface. The store does not know what the texts mean.
namespace tutti::store {

struct SystemRecord {
  std::string name;
  std::string lineage;  // made with the system's first run; a store restored from elsewhere shows by it
  i64 serial = 0;       // of the state: one more with every change
  std::string state;    // JSON, secrets sealed
};

// Who may write. A lease that was lost (a pause longer than it) cannot hurt: every write carries the fence, and the
// store refuses those of an older one.
struct Lease {
  std::string system;
  i64 fence = 0;
  double seconds = 0;
  double taken = 0;  // on sleepless_clock(), before it was: whoever holds it stops when it is over, unless renewed
};

struct LockInfo {
  Holder holder;
  double since = 0, expires = 0;  // seconds since 1970: for people, and for no decision
  i64 fence = 0;
  double seconds = 0;  // how long it lasts without a renewal
  i64 beat = 0;        // renewals
};

struct RunRecord {
  i64 id = 0;
  std::string system;
  std::string kind;    // apply, destroy, rollback
  std::string status;  // running, done, failed, interrupted
  double started = 0, ended = 0;
  std::string who;         // user@host
  i64 base_serial = 0;     // of the state it started from
  std::string base_state;  // that state
  std::string plan;        // what to do; JSON, secrets sealed
  std::string wanted;      // the wanted system; JSON, secrets sealed
  std::string summary;     // one line
  bool damaged = false;    // it is not what was written, or a part of it is gone
};

// A line of a run's journal. The intent of an action is written before it is acted on, its result after.
struct Entry {
  enum class Kind : u8 { kStart = 1, kEnd = 2, kNote = 3 };
  i64 sequence = 0;
  double time = 0;  // seconds since 1970
  Kind kind = Kind::kNote;
  u32 instance = 0, transition = 0, attempt = 0;
  std::string name;  // "shop.db/start": for people, and to notice a journal that is not this program's
  std::string how;   // of an end: ok, failed, timeout, cancelled, lost
  i64 code = 0;
  std::string outcome, message, log;
  std::string outputs;   // JSON
  std::string changes;   // JSON: what was changed
  double seconds = 0;    // it took
  bool damaged = false;  // it, or one before it, is not what was written
};

struct Learnt {
  u64 count = 0;
  double mean = 0, last = 0, deviation = 0;
};

// A write that came too late: somebody else holds the system now.
inline constexpr int kFenced = 100001;
// The system is held by somebody else.
inline constexpr int kHeld = 100002;
// The state is not the one that the caller thinks it is.
inline constexpr int kStale = 100003;

// What is recorded is not what was written.
inline constexpr int kDamaged = 100006;

class Store {
 public:
  virtual ~Store() = default;

  // What the record has lost, a sentence; "": nothing that shows. It can be read as far as it goes, and nothing can be
  // done with it.
  virtual std::string damage() = 0;

  virtual Result<std::vector<std::string>> systems() = 0;
  virtual Result<std::optional<SystemRecord>> system(const std::string& name) = 0;

  // Taken when nobody holds it, when the holder is seen to be gone, or when this store has asked before and the holder
  // has not renewed its lease for as long as it lasts: an end is observed, never computed from somebody's clock.
  // A failure with kHeld says who holds it.
  virtual Result<Lease> acquire(const std::string& system, const Holder& holder, double seconds) = 0;
  // Takes it from whoever holds it, who can write nothing more; nullopt: nobody does.
  virtual Result<std::optional<LockInfo>> break_lock(const std::string& system) = 0;
  virtual Result<void> renew(const Lease& lease) = 0;
  virtual Result<void> release(const Lease& lease) = 0;
  // Whether it still is the one in force. Waits for nobody who writes.
  virtual Result<void> holds(const Lease& lease) = 0;
  virtual Result<std::optional<LockInfo>> lock(const std::string& system) = 0;

  // Under a lease; durable when they return.
  virtual Result<i64> begin(const Lease& lease,
                            const RunRecord& run) = 0;  // kStale when base_serial is not the present one
  virtual Result<void> append(const Lease& lease, i64 run, std::span<const Entry> entries) = 0;
  // The run's end and the state it leaves, at once. `state` may be absent: the state stays as it was.
  virtual Result<void> finish(const Lease& lease, i64 run, const std::string& status, const std::string& summary,
                              const std::optional<std::string>& state) = 0;

  // A run that has ended goes on; kStale when it was not the last one of its system.
  virtual Result<void> reopen(const Lease& lease, i64 run) = 0;

  virtual Result<std::vector<RunRecord>> runs(const std::string& system,
                                              std::size_t most) = 0;  // newest first, without plans
  virtual Result<std::optional<RunRecord>> run(i64 id) = 0;
  // A word by which what the run starts is told from what any other run does, of this record or another. "" of one that
  // an older version began.
  virtual Result<std::string> mark(i64 run) = 0;
  virtual Result<std::vector<Entry>> entries(i64 run) = 0;

  // Takes runs of the lease's system out of the record, with their journals; one that has not ended stays. How many.
  // Which ones is decided in store/retention.h.
  virtual Result<std::size_t> prune(const Lease& lease, std::span<const i64> runs) = 0;

  virtual Result<void> learn(std::span<const std::pair<std::string, double>> durations) = 0;
  virtual Result<std::map<std::string, Learnt>> learnt() = 0;

  // Facts about the record itself; "": not known.
  virtual std::string fact(const std::string& key) = 0;
  virtual Result<void> set_fact(const std::string& key, const std::string& value) = 0;
};

// SQLite in a file: write-ahead log, every commit on disk before it returns. ":memory:" for tests. The directory is
// made. Refused when anything there is somebody else's (kForeign), and when the record was made elsewhere
// (kFromElsewhere, see own_directory.h): with `adopt` it is ours from now on.
Result<std::unique_ptr<Store>> open_sqlite(const std::string& path, bool adopt = false);

std::string describe(const LockInfo& info, double now);
// Whether somebody seems to hold it, to be told to people: not gone, and their lease is not over by the clock.
bool held(const LockInfo& info, double now);

}  // namespace tutti::store
