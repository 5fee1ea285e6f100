#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "base/types.h"

namespace tutti::puppet {

// A list of plain values in 16 bytes, for what a catalog holds by the ten thousand: a vector's three pointers and its
// doubling from one cost more than most of the lists of a resource.
template <class T>
class PackedList {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PackedList() = default;
  PackedList(PackedList&& o) noexcept : items_(std::exchange(o.items_, nullptr)), size_(o.size_), room_(o.room_) {}
  PackedList(const PackedList&) = delete;
  PackedList& operator=(const PackedList&) = delete;
  PackedList& operator=(PackedList&&) = delete;
  ~PackedList() { std::free(items_); }

  T* begin() { return items_; }
  T* end() { return items_ + size_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  operator std::span<const T>() const { return {items_, size_}; }

  void reserve(std::size_t n) {
    if (n <= room_) return;
    void* more = std::realloc(static_cast<void*>(items_), n * sizeof(T));
    if (!more) throw std::bad_alloc();
    items_ = static_cast<T*>(more);
    room_ = static_cast<u32>(n);
  }
  void push_back(T item) {
    if (size_ == room_) reserve(room_ < 4 ? room_ + 2 : room_ + room_ / 2);
    new (items_ + size_++) T(std::move(item));
  }

 private:
  T* items_ = nullptr;
  u32 size_ = 0, room_ = 0;
};

}  // namespace tutti::puppet
