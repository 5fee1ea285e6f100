#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/types.h"

namespace tutti {

// What an arena hands out of its present block by moving a pointer, and what is made there. Self::allocate_slow brings
// the next block. Destructors of what is made are never run, so only trivially destructible types may be made
// (checked).
template <class Self>
class Allocating {
 public:
  void* allocate(std::size_t size, std::size_t align = alignof(std::max_align_t)) {
    std::size_t at = (used_ + align - 1) & ~(align - 1);
    if (at + size > capacity_) return static_cast<Self*>(this)->allocate_slow(size, align);
    used_ = at + size;
    return block_ + at;
  }

  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  // Room for n values of T, not initialised.
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

 protected:
  char* block_ = nullptr;
  std::size_t used_ = 0;
  std::size_t capacity_ = 0;
};

// Memory for everything that lives as long as one evaluation, given back all at once. One arena belongs to one thread
// while it grows; what is in it may be read by all once it no longer does.
class Arena : public Allocating<Arena> {
 public:
  Arena() = default;
  Arena(Arena&&) noexcept = default;
  Arena& operator=(Arena&&) noexcept = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Forgets what was made, keeping one block for what comes next.
  void clear();

  // All bytes asked of the system so far.
  std::size_t bytes() const { return bytes_; }
  // Asking for more than this in all throws a LimitError.
  void set_limit(std::size_t bytes) { limit_ = bytes; }

 private:
  friend class Allocating<Arena>;
  void* allocate_slow(std::size_t size, std::size_t align);

  std::size_t bytes_ = 0;
  std::size_t limit_ = SIZE_MAX;
  std::vector<std::unique_ptr<char[]>> blocks_;
};

}  // namespace tutti
