#pragma once

#include <array>

#include "base/arena.h"
#include "lang/cue/eval/region.h"

namespace tutti::cue {

// The arena of an evaluation. What is made in it is in the region, so that a Ref can lead there; what others make in it
// as in any arena (syntax, text of messages) is not. Lists grow by moving to a larger place; the one they leave is kept
// for the next list that needs as much.
class Room : public Arena, public Allocating<Room> {
 public:
  Room() = default;
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  using Allocating<Room>::allocate;
  using Allocating<Room>::make;
  using Allocating<Room>::array;
  using Allocating<Room>::copy;
  std::size_t bytes() const { return bytes_ + Arena::bytes(); }
  void set_limit(std::size_t bytes) {
    limit_ = bytes;
    Arena::set_limit(bytes);
  }

  void* take(std::size_t bytes) {
    std::size_t k = (bytes + kStep - 1) / kStep;
    if (k >= kKinds) return take_large(bytes);
    if (left_[k]) {
      Left* p = left_[k];
      left_[k] = p->next;
      return p;
    }
    return allocate(k * kStep, Region::kUnit);
  }
  void give(void* place, std::size_t bytes) {
    std::size_t k = (bytes + kStep - 1) / kStep;
    if (k == 0) return;
    if (k >= kKinds) return give_large(place, bytes);
    Left* p = new (place) Left;
    p->next = left_[k];
    left_[k] = p;
  }

  // One of those kept last, when it is the same.
  template <class T>
  const T* keep(const T& v) {
    for (const void* p : recent_)
      if (p && *static_cast<const T*>(p) == v) return static_cast<const T*>(p);
    const T* made = make<T>(v);
    recent_[next_++ % recent_.size()] = made;
    return made;
  }

 private:
  friend class Allocating<Room>;
  using Allocating<Room>::block_;
  using Allocating<Room>::used_;
  using Allocating<Room>::capacity_;
  void* allocate_slow(std::size_t size, std::size_t align);
  void* take_large(std::size_t bytes);
  void give_large(void* place, std::size_t bytes);

  static constexpr std::size_t kStep = 8, kKinds = 512;
  struct Left {
    Ref<Left> next;
  };
  struct Block {
    void* place;
    std::size_t bytes;
  };

  std::size_t bytes_ = 0, limit_ = SIZE_MAX;
  std::size_t block_bytes_ = 0;  // of the present block; `capacity_` is what has been asked for of it
  std::vector<Block> blocks_;
  std::array<Ref<Left>, kKinds> left_{};
  std::vector<std::pair<std::size_t, Ref<Left>>> large_;  // by size: few are of more than a page
  std::array<const void*, 4> recent_{};
  unsigned next_ = 0;
};

}  // namespace tutti::cue
