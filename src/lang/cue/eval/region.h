#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"

// Where all evaluations of the process keep their values: one range of addresses, reserved once, so that a place in it
// is a number of 32 bits. Half the size of a pointer makes most of what an evaluation keeps nearly half as large. The
// range lies so low that the number is the address but for its last bits; only the sanitizers need that for themselves.
namespace tutti::cue {

class Region {
 public:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
  static constexpr bool kLow = false;
#else
  static constexpr bool kLow = true;
#endif
  static constexpr std::size_t kUnit = 4;  // what places are multiples of
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kReady = std::size_t{1} << 16;  // what is worth a call of make_ready

  // Memory of a power of two of bytes, at least a page; its content is not defined. nullptr when there is no more.
  static void* take(std::size_t bytes);
  static void give(void* place, std::size_t bytes);
  // For what is written to soon: its pages are taken at once, which costs less than one by one.
  static void make_ready(void* place, std::size_t bytes);

  static char* at(u32 place) {
    if constexpr (kLow) return reinterpret_cast<char*>(std::uintptr_t{place} * kUnit);
    return place ? base_ + std::size_t{place} * kUnit : nullptr;
  }
  static u32 place(const void* p) {
    if constexpr (kLow) return static_cast<u32>(reinterpret_cast<std::uintptr_t>(p) / kUnit);
    return p ? static_cast<u32>((static_cast<const char*>(p) - base_) / kUnit) : 0;
  }

 private:
  friend struct Reserved;
  static inline char* base_ = nullptr;
};

// A pointer into the region, in 4 bytes. What it points to must have been made in a Room.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* p) : place_(Region::place(p)) {}
  Ref& operator=(T* p) {
    place_ = Region::place(p);
    return *this;
  }
  T* get() const { return reinterpret_cast<T*>(Region::at(place_)); }
  operator T*() const { return get(); }
  explicit operator bool() const { return place_ != 0; }
  T* operator->() const { return reinterpret_cast<T*>(Region::at(place_)); }
  T& operator*() const { return *operator->(); }
  friend bool operator==(Ref a, Ref b) { return a.place_ == b.place_; }

 private:
  u32 place_ = 0;
};

}  // namespace tutti::cue
