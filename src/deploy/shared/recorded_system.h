#pragma once

#include <map>
#include <string>

#include "engine/plan/recorded.h"

namespace tutti::deploy {

// What is recorded of one system. A system of which nothing is recorded yet has no components and serial 0.
struct RecordedSystem {
  engine::Recorded recorded;
  Value state;     // the same as the tree that is stored; an empty map where nothing is
  i64 serial = 0;  // of the state: one more with every change
  std::string lineage;
};

// How long actions took, by the keys of `duration_keys`.
struct LearntDuration {
  u64 count = 0;
  double mean = 0, deviation = 0;
};
using LearntDurations = std::map<std::string, LearntDuration>;

}  // namespace tutti::deploy
