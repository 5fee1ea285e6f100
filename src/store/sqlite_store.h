#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "store/own_directory.h"
#include "store/sqlite.h"
#include "store/store.h"

// The record in a file of SQLite's. How it is opened, and what is looked at before anything in it is believed, is in
// sqlite_opening.cpp; leases, runs and journals are in sqlite_store.cpp.
namespace tutti::store {

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
  Result<std::size_t> prune(const Lease& lease, std::span<const i64> runs) override;
  Result<void> learn(std::span<const std::pair<std::string, double>> durations) override;
  Result<std::map<std::string, Learnt>> learnt() override;
  std::string damage() override;
  std::string fact(const std::string& key) override;
  Result<void> set_fact(const std::string& key, const std::string& value) override;

 private:
  Result<void> open_to_write(const std::string& path, bool adopt);
  Result<void> check_origin(const std::string& path, bool adopt);
  Result<void> commit(Transaction& t);  // with its number
  i64 commits();

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
  std::string name_, damage_;
  bool looked_ = false;  // for damage
  Database db_;
};

}  // namespace tutti::store
