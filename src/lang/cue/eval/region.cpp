#include "lang/cue/eval/region.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <vector>

namespace tutti::cue {

struct Reserved {
  static constexpr std::size_t kAll = (std::size_t{1} << 32) * Region::kUnit, kLeast = std::size_t{1} << 22;
  static constexpr std::size_t kLowest = Region::kLow ? std::size_t{1} << 32 : 0;  // the program is below
  static constexpr std::size_t kMost = kAll - kLowest;
  static constexpr std::size_t kLargePage = std::size_t{2} << 20;
  std::mutex mutex;
  std::size_t size = 0, used = 0, writable = 0;
  std::array<std::vector<void*>, 48> free{};  // by the power of two of their size

  // As much as there may be; where the user allows less (ulimit -v), about half of that: others need some, too.
  Reserved() {
    for (std::size_t want = kMost; want >= kLeast; want /= 2) {
      char* p = reserve(want);
      if (!p) continue;
      if (want < kMost) {
        want /= 2;
        ::munmap(p + want, want);
      }
      Region::base_ = p;
      size = want;
      used = Region::kPage;  // place 0 is none
      return;
    }
  }

  static char* map(std::size_t at, std::size_t bytes) {
    void* p = ::mmap(reinterpret_cast<void*>(at), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? nullptr : static_cast<char*>(p);
  }

  // Where nothing else is, asked for at one place after the other.
  static char* reserve(std::size_t bytes) {
    if constexpr (!Region::kLow) return map(0, bytes);
    constexpr int kTries = 16;
    std::size_t at = kLowest;
    for (int i = 0; i < kTries && at + bytes <= kLowest + kMost; ++i, at += bytes) {
      char* p = map(at, bytes);
      if (!p) return nullptr;
      if (reinterpret_cast<std::uintptr_t>(p) + bytes <= kLowest + kMost) return p;
      ::munmap(p, bytes);
    }
    return nullptr;
  }

  void* take(std::size_t bytes) {
    auto power = static_cast<std::size_t>(std::countr_zero(bytes));
    if (auto& same = free[power]; !same.empty()) {
      void* p = same.back();
      same.pop_back();
      return p;
    }
    if (bytes >= 4 * kLargePage) used = (used + kLargePage - 1) & ~(kLargePage - 1);
    if (size - used < bytes) return nullptr;
    std::size_t end = used + bytes;
    if (end > writable) {
      // few calls, not many: more than is asked for costs nothing until it is written to
      std::size_t to = std::min(size, (end + end / 2 + kLargePage - 1) & ~(kLargePage - 1));
      if (::mprotect(Region::base_ + writable, to - writable, PROT_READ | PROT_WRITE) != 0) {
        to = end;
        if (::mprotect(Region::base_ + writable, to - writable, PROT_READ | PROT_WRITE) != 0) return nullptr;
      }
      writable = to;
    }
    void* p = Region::base_ + used;
    used = end;
    // where one more than needed does not count
    if (bytes >= 4 * kLargePage) (void)::madvise(p, bytes, MADV_HUGEPAGE);  // only a wish
    return p;
  }

  void give(void* place, std::size_t bytes) {
    constexpr std::size_t kKept = std::size_t{1} << 16;
    if (bytes > kKept) (void)::madvise(place, bytes, MADV_DONTNEED);
    free[static_cast<std::size_t>(std::countr_zero(bytes))].push_back(place);
  }
};

namespace {
Reserved& reserved() {
  static Reserved& all = *new Reserved;  // others are given back at the very end
  return all;
}
}  // namespace

void* Region::take(std::size_t bytes) {
  Reserved& all = reserved();
  std::lock_guard lock(all.mutex);
  return all.take(bytes);
}

void Region::give(void* place, std::size_t bytes) {
  Reserved& all = reserved();
  std::lock_guard lock(all.mutex);
  all.give(place, bytes);
}

void Region::make_ready(void* place, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  (void)::madvise(place, bytes, MADV_POPULATE_WRITE);  // only a wish
#else
  (void)place, (void)bytes;
#endif
}

}  // namespace tutti::cue
