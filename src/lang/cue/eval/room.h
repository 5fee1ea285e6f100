#pragma once

#include <array>

#include "base/arena.h"
#include "lang/cue/eval/region.h"

namespace tutti::cue {

// The arena of an evaluation. What is made in it is in the region, so that a Ref can lead there; what others make in it
// as in any arena (syntax, text of messages) is not. Lists grow by moving to a larger place; the one they leave is kept
// for the next list that needs as much.
class Room : public Arena {
 public:
  Room() = default;
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  void* allocate(std::size_t size, std::size_t align = alignof(std::max_align_t)) {
    std::size_t at = (used_ + align - 1) & ~(align - 1);
    if (at + size > capacity_) return allocate_slow(size, align);
    used_ = at + size;
    return block_ + at;
  }
  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }
  template <class T>
  T* array(std::size_t n) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T*>(allocate(n * sizeof(T), alignof(T)));
  }
  template <class T>
  std::span<T> copy(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    T* to = array<T>(items.size());
    if (!items.empty()) std::memcpy(static_cast<void*>(to), items.data(), items.size_bytes());
    return {to, items.size()};
  }
  std::string_view copy(std::string_view text) {
    char* to = array<char>(text.size());
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    return {to, text.size()};
  }
  std::size_t bytes() const { return bytes_ + Arena::bytes(); }
  void set_limit(std::size_t bytes) {
    limit_ = bytes;
    Arena::set_limit(bytes);
  }

  void* take(std::size_t bytes) {
    std::size_t k = (bytes + kStep - 1) / kStep;
    if (k < kKinds && left_[k]) {
      Left* p = left_[k];
      left_[k] = p->next;
      return p;
    }
    return allocate(k * kStep, Region::kUnit);
  }
  void give(void* place, std::size_t bytes) {
    std::size_t k = (bytes + kStep - 1) / kStep;
    if (k == 0 || k >= kKinds) return;
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
  void* allocate_slow(std::size_t size, std::size_t align);

  static constexpr std::size_t kStep = 8, kKinds = 512;
  struct Left {
    Ref<Left> next;
  };
  struct Block {
    void* place;
    std::size_t bytes;
  };

  char* block_ = nullptr;
  std::size_t used_ = 0, capacity_ = 0, bytes_ = 0, limit_ = SIZE_MAX;
  std::vector<Block> blocks_;
  std::array<Ref<Left>, kKinds> left_{};
  std::array<const void*, 4> recent_{};
  unsigned next_ = 0;
};

}  // namespace tutti::cue
