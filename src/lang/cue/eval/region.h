#pragma once

#include <cstddef>

#include "base/types.h"

// Where all evaluations of the process keep their values: one range of addresses, reserved once, so that a place in it
// is a number of 32 bits. Half the size of a pointer makes most of what an evaluation keeps nearly half as large.
namespace tutti::cue {

class Region {
 public:
  static constexpr std::size_t kUnit = 4;  // what places are multiples of
  static constexpr std::size_t kPage = 4096;

  // Memory of a power of two of bytes, at least a page; its content is not defined. nullptr when there is no more.
  static void* take(std::size_t bytes);
  static void give(void* place, std::size_t bytes);

  static char* at(u32 place) { return base_ + std::size_t{place} * kUnit; }
  static u32 place(const void* p) { return static_cast<u32>((static_cast<const char*>(p) - base_) / kUnit); }

 private:
  friend struct Reserved;
  static inline char* base_ = nullptr;
};

// A pointer into the region, in 4 bytes. What it points to must have been made in a Room.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* p) : place_(p ? Region::place(p) : 0) {}
  Ref& operator=(T* p) {
    place_ = p ? Region::place(p) : 0;
    return *this;
  }
  T* get() const { return place_ ? reinterpret_cast<T*>(Region::at(place_)) : nullptr; }
  operator T*() const { return get(); }
  explicit operator bool() const { return place_ != 0; }
  T* operator->() const { return reinterpret_cast<T*>(Region::at(place_)); }
  T& operator*() const { return *operator->(); }
  friend bool operator==(Ref a, Ref b) { return a.place_ == b.place_; }

 private:
  u32 place_ = 0;
};

}  // namespace tutti::cue
