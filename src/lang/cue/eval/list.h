#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "base/types.h"

namespace tutti::cue {

// What std::vector does, in 8 bytes: a state has many lists, nearly all of them empty.
template <class T>
class List {
 public:
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);
  List() = default;
  List(const List& o) { assign(o); }
  List(List&& o) noexcept : head_(std::exchange(o.head_, nullptr)) {}
  List& operator=(const List& o) {
    if (this != &o) assign(o);
    return *this;
  }
  List& operator=(List&& o) noexcept {
    swap(o);
    return *this;
  }
  ~List() { std::free(head_); }

  std::size_t size() const { return head_ ? head_->size : 0; }
  std::size_t capacity() const { return head_ ? head_->capacity : 0; }
  bool empty() const { return size() == 0; }
  T* begin() { return items(); }
  T* end() { return items() + size(); }
  const T* begin() const { return items(); }
  const T* end() const { return items() + size(); }
  T& operator[](std::size_t i) { return items()[i]; }
  const T& operator[](std::size_t i) const { return items()[i]; }
  T& back() { return items()[size() - 1]; }
  const T& back() const { return items()[size() - 1]; }

  void push_back(const T& v) {
    std::size_t n = size();
    if (n == capacity()) {
      T one = v;  // may be one of ours
      reserve(n ? n * 2 : 2);
      items()[head_->size++] = one;
      return;
    }
    items()[head_->size++] = v;
  }
  void insert(T* at, const T& v) { insert(at, &v, &v + 1); }
  // What is put in is not part of this list.
  void insert(T* at, const T* from, const T* to) {
    std::size_t before = static_cast<std::size_t>(at - begin()), n = size(), more = static_cast<std::size_t>(to - from);
    if (more == 0) return;
    if (n + more > capacity()) reserve(std::max(n + more, n * 2));
    T* p = items() + before;
    std::memmove(static_cast<void*>(p + more), p, (n - before) * sizeof(T));
    std::memcpy(static_cast<void*>(p), from, more * sizeof(T));
    head_->size += static_cast<u32>(more);
  }
  void erase(T* from, T* to) {
    if (from == to) return;
    std::memmove(static_cast<void*>(from), static_cast<const void*>(to),
                 static_cast<std::size_t>(end() - to) * sizeof(T));
    head_->size -= static_cast<u32>(to - from);
  }
  void clear() {
    if (head_) head_->size = 0;
  }
  void reserve(std::size_t n) {
    if (n <= capacity()) return;
    bool fresh = !head_;
    void* place = std::realloc(static_cast<void*>(head_), sizeof(Head) + n * sizeof(T));
    if (!place) throw std::bad_alloc();
    head_ = static_cast<Head*>(place);
    if (fresh) head_->size = 0;
    head_->capacity = static_cast<u32>(n);
  }
  void swap(List& o) noexcept { std::swap(head_, o.head_); }

 private:
  struct Head {
    u32 size, capacity;
  };
  T* items() const { return head_ ? reinterpret_cast<T*>(head_ + 1) : nullptr; }
  void assign(const List& o) {
    clear();
    if (o.empty()) return;
    reserve(o.size());
    std::memcpy(static_cast<void*>(items()), o.items(), o.size() * sizeof(T));
    head_->size = o.head_->size;
  }

  Head* head_ = nullptr;
};

template <class T, class Wanted>
void erase_if(List<T>& list, Wanted wanted) {
  list.erase(std::remove_if(list.begin(), list.end(), wanted), list.end());
}

}  // namespace tutti::cue
