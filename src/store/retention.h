#pragma once

#include <span>
#include <vector>

#include "store/store.h"

// Which runs are kept. A record that is never pruned grows with every run for as long as a system lives; one that is
// pruned too early cannot answer "what was it like last month". So what is recent is kept, and what is many is not.
namespace tutti::store {

struct Retention {
  std::size_t always = 100;  // the newest runs of a system are kept, however old they are
  double days = 30;          // what is younger is kept, too,
  std::size_t most = 1000;   // but never more runs than these
};

// The runs to be taken out, of one system's runs, the newest first. One that has not ended is never among them.
std::vector<i64> to_prune(std::span<const RunRecord> newest_first, const Retention& keep, double now);

// Takes them out of the record, at once. How many there were.
Result<std::size_t> prune(Store& store, const Lease& lease, const Retention& keep, double now);

}  // namespace tutti::store
