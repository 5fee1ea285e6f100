#include "lang/cue/eval/region.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>

namespace tutti::cue {

struct Reserved {
  static constexpr std::size_t kMost = (std::size_t{1} << 32) * Region::kUnit, kLeast = std::size_t{1} << 22;
  static constexpr std::size_t kLargePage = std::size_t{2} << 20;
  struct Free {
    Free* next;
  };

  std::mutex mutex;
  std::size_t size = 0, used = 0, writable = 0;
  std::array<Free*, 48> free{};  // by the power of two of their size

  // As much as there may be; where the user allows less (ulimit -v), about half of that: others need some, too.
  Reserved() {
    for (std::size_t want = kMost; want >= kLeast; want /= 2) {
      void* p = ::mmap(nullptr, want, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p == MAP_FAILED) continue;
      if (want < kMost) {
        want /= 2;
        ::munmap(static_cast<char*>(p) + want, want);
      }
      Region::base_ = static_cast<char*>(p);
      size = want;
      used = Region::kPage;  // place 0 is none
      return;
    }
  }

  void* take(std::size_t bytes) {
    auto power = static_cast<std::size_t>(std::countr_zero(bytes));
    if (Free* p = free[power]) {
      free[power] = p->next;
      return p;
    }
    if (bytes >= kLargePage) used = (used + kLargePage - 1) & ~(kLargePage - 1);
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
    // Taking pages one by one is a good part of the time of a large evaluation.
    if (bytes >= 4 * kLargePage) (void)::madvise(p, bytes, MADV_HUGEPAGE);  // only a wish
    return p;
  }

  void give(void* place, std::size_t bytes) {
    constexpr std::size_t kKept = std::size_t{1} << 16;
    if (bytes > kKept) (void)::madvise(static_cast<char*>(place) + Region::kPage, bytes - Region::kPage, MADV_DONTNEED);
    auto power = static_cast<std::size_t>(std::countr_zero(bytes));
    free[power] = new (place) Free{free[power]};
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

}  // namespace tutti::cue
