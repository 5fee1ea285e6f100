#pragma once

#include <bit>
#include <vector>

#include "base/types.h"

namespace tutti::model {

// Rows of bits of one width: which elements are in which group. A row is a run of words, so that sets of a few dozen
// members (nearly all types) are one word and the work on them one instruction.
class BitRows {
 public:
  BitRows() = default;
  BitRows(std::size_t rows, std::size_t width) : words_((width + 63) / 64), bits_(rows * words_) {}

  std::size_t words() const { return words_; }
  const u64* row(std::size_t r) const { return bits_.data() + r * words_; }
  u64* row(std::size_t r) { return bits_.data() + r * words_; }
  bool test(std::size_t r, std::size_t bit) const { return row(r)[bit / 64] >> (bit % 64) & 1; }
  void set(std::size_t r, std::size_t bit) { row(r)[bit / 64] |= u64{1} << (bit % 64); }
  std::size_t bytes() const { return bits_.size() * sizeof(u64); }

 private:
  std::size_t words_ = 0;
  std::vector<u64> bits_;
};

// Calls f(index) for every bit set, lowest first.
template <class F>
void for_each_bit(const u64* words, std::size_t n, F&& f) {
  for (std::size_t w = 0; w < n; ++w)
    for (u64 left = words[w]; left != 0; left &= left - 1) f(static_cast<u32>(w * 64 + std::countr_zero(left)));
}

inline bool any_common(const u64* a, const u64* b, std::size_t n) {
  for (std::size_t w = 0; w < n; ++w)
    if (a[w] & b[w]) return true;
  return false;
}

inline bool is_within(const u64* a, const u64* b, std::size_t n) {  // a is a subset of b
  for (std::size_t w = 0; w < n; ++w)
    if (a[w] & ~b[w]) return false;
  return true;
}

}  // namespace tutti::model
