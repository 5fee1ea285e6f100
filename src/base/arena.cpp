#include "base/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/budget.h"
#include "base/limit_place.h"

namespace tutti {

// Blocks double from 4 KiB to 32 MiB: a trivial file costs one page, a large one few calls, and large blocks are asked
// for in large pages where the system has them: taking them one by one is a good part of the time of a large
// evaluation. What is larger than a quarter of the next block gets a block of its own, so that the rest of the current
// one is not lost.
void* Arena::allocate_slow(std::size_t size, std::size_t align) {
  constexpr std::size_t kFirst = 4096, kLargest = std::size_t{32} << 20;
  std::size_t next = std::clamp(bytes_, kFirst, kLargest);
  if (size > limit_ || bytes_ > limit_ - size) {
    throw LimitError("LIMIT-MEMORY", fmt::format("needs more than {} bytes of memory (--limit memory=N)", limit_),
                     limit_place());
  }
  if (size + align > next / 4) {
    auto own = std::make_unique_for_overwrite<char[]>(size + align);
    auto at = reinterpret_cast<std::uintptr_t>(own.get());
    at = (at + align - 1) & ~(std::uintptr_t{align} - 1);
    bytes_ += size + align;
    blocks_.push_back(std::move(own));
    return reinterpret_cast<void*>(at);
  }
  constexpr std::size_t kLargePage = std::size_t{2} << 20;
  if (next < kLargePage) {
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(next));
    block_ = blocks_.back().get();
  } else {
    // What lies before the first large page is never written to and takes no memory.
    next &= ~(kLargePage - 1);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(next + kLargePage));
    auto from = (reinterpret_cast<std::uintptr_t>(blocks_.back().get()) + kLargePage - 1) & ~(kLargePage - 1);
    block_ = reinterpret_cast<char*>(from);
    (void)::madvise(block_, next, MADV_HUGEPAGE);  // only a wish
  }
  capacity_ = next;
  bytes_ += next;
  used_ = 0;
  return allocate(size, align);
}

void Arena::clear() {
  used_ = 0;
  bytes_ = capacity_;
  // The present block begins in the nearest before it.
  std::unique_ptr<char[]> kept;
  for (auto& block : blocks_)
    if (block.get() <= block_ && block.get() > kept.get()) kept.swap(block);
  blocks_.clear();
  if (kept) blocks_.push_back(std::move(kept));
}

}  // namespace tutti
