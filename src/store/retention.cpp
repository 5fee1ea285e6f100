#include "store/retention.h"

#include <limits>

namespace tutti::store {

std::vector<i64> to_prune(std::span<const RunRecord> newest_first, const Retention& keep, double now) {
  constexpr double kDay = 86400;
  std::vector<i64> out;
  for (std::size_t i = keep.always; i < newest_first.size(); ++i) {
    const RunRecord& run = newest_first[i];
    bool recent = i < keep.most && now - run.ended < keep.days * kDay;
    if (!recent && run.status != "running") out.push_back(run.id);
  }
  return out;
}

Result<std::size_t> prune(Store& store, const Lease& lease, const Retention& keep, double now) {
  auto runs = store.runs(lease.system, std::numeric_limits<i64>::max());
  if (!runs) return tl::unexpected(runs.error());
  std::vector<i64> old = to_prune(*runs, keep, now);
  if (old.empty()) return std::size_t{0};
  return store.prune(lease, old);
}

}  // namespace tutti::store
