#include "engine/verify/state_set.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tutti::engine {

std::pair<u32, bool> StateSet::insert(const u64* state) {
  if ((std::size_t{size_} + 1) * 2 > slots_.size()) grow();
  u64 hash = XXH3_64bits(state, words_ * 8);
  u64 tag = hash & ~u64{0xffffffff};
  std::size_t mask = slots_.size() - 1;
  for (std::size_t k = hash & mask;; k = (k + 1) & mask) {
    u64 slot = slots_[k];
    if (slot == 0) {
      slots_[k] = tag | (size_ + 1);
      states_.insert(states_.end(), state, state + words_);
      return {size_++, true};
    }
    if ((slot & ~u64{0xffffffff}) != tag) continue;
    u32 number = static_cast<u32>(slot) - 1;
    if (std::memcmp((*this)[number], state, words_ * 8) == 0) return {number, false};
  }
}

void StateSet::grow() {
  std::vector<u64> old(slots_.size() * 2);
  old.swap(slots_);
  std::size_t mask = slots_.size() - 1;
  for (u64 slot : old) {
    if (slot == 0) continue;
    u64 hash = XXH3_64bits((*this)[static_cast<u32>(slot) - 1], words_ * 8);
    std::size_t k = hash & mask;
    while (slots_[k]) k = (k + 1) & mask;
    slots_[k] = slot;
  }
}

}  // namespace tutti::engine
