#pragma once

#include <array>

#include "base/arena.h"

namespace tutti::cue {

// The arena of an evaluation. Lists in it grow by moving to a larger place; the one they leave is kept for the next
// list that needs as much.
class Room : public Arena {
 public:
  void* take(std::size_t bytes) {
    std::size_t k = bytes / kUnit;
    if (k < kKinds && left_[k]) {
      Left* p = left_[k];
      left_[k] = p->next;
      return p;
    }
    return allocate(bytes, kUnit);
  }
  void give(void* place, std::size_t bytes) {
    std::size_t k = bytes / kUnit;
    if (k == 0 || k >= kKinds) return;
    left_[k] = new (place) Left{left_[k]};
  }

  // One of those kept last, when it is the same.
  template <class T>
  const T* keep(const T& v) {
    static_assert(sizeof(T) >= sizeof(void*));
    for (const void* p : recent_)
      if (p && *static_cast<const T*>(p) == v) return static_cast<const T*>(p);
    const T* made = make<T>(v);
    recent_[next_++ % recent_.size()] = made;
    return made;
  }

 private:
  static constexpr std::size_t kUnit = 8, kKinds = 512;
  struct Left {
    Left* next;
  };
  std::array<Left*, kKinds> left_{};
  std::array<const void*, 4> recent_{};
  unsigned next_ = 0;
};

}  // namespace tutti::cue
