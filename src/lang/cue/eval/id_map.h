#pragma once

#include <vector>

#include "base/types.h"

namespace tutti::cue {

// Small numbers to bits or positions, emptied in no time: for questions that are asked of one vertex after the other.
class IdMap {
 public:
  void clear() {
    size_ = 0;
    if (++epoch_ == 0) {
      slots_.clear();
      epoch_ = 1;
    }
  }
  // Emptied, and its memory given back where it is more than that of so many.
  void release(std::size_t most) {
    clear();
    if (slots_.size() > most) std::vector<Slot>().swap(slots_);
  }
  u32 get(u32 id) const {
    if (slots_.empty()) return 0;
    for (std::size_t i = hash(id);; i = (i + 1) & (slots_.size() - 1)) {
      const Slot& s = slots_[i];
      if (s.epoch != epoch_) return 0;
      if (s.id == id) return s.value;
    }
  }
  // The value of id, 0 when it is new. Good until the next call.
  u32& at(u32 id) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    for (std::size_t i = hash(id);; i = (i + 1) & (slots_.size() - 1)) {
      Slot& s = slots_[i];
      if (s.epoch != epoch_) {
        s = {id, epoch_, 0};
        ++size_;
        return s.value;
      }
      if (s.id == id) return s.value;
    }
  }

 private:
  struct Slot {
    u32 id = 0, epoch = 0, value = 0;
  };
  std::size_t hash(u32 id) const { return (id * 0x9e3779b1u >> 7) & (slots_.size() - 1); }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    size_ = 0;
    for (const Slot& s : old)
      if (s.epoch == epoch_) at(s.id) = s.value;
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
  u32 epoch_ = 1;
};

}  // namespace tutti::cue
