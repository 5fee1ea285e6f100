#pragma once

#include <cstring>
#include <vector>

#include "base/types.h"

namespace tutti::engine {

// States of one width, each kept once, numbered as they come. Exact: states are compared, not only their hashes.
class StateSet {
 public:
  explicit StateSet(std::size_t words) : words_(words), slots_(1 << 10) {}

  // The number of the state, and whether it is new.
  std::pair<u32, bool> insert(const u64* state);
  const u64* operator[](u32 number) const { return states_.data() + std::size_t{number} * words_; }
  u32 size() const { return size_; }
  std::size_t bytes() const { return states_.capacity() * 8 + slots_.capacity() * 8; }

 private:
  void grow();
  std::size_t words_;
  u32 size_ = 0;
  std::vector<u64> states_;
  std::vector<u64> slots_;  // high half: of the hash; low half: 1 + number
};

}  // namespace tutti::engine
