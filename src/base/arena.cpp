#include "base/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>

#include "base/budget.h"
#include "base/limit_place.h"

namespace tutti {

namespace {
constexpr std::size_t kFirst = 4096, kLargest = std::size_t{32} << 20;
constexpr std::size_t kLargePage = std::size_t{2} << 20, kMany = 2 * kLargePage, kSome = kMany / 8;

// Takes the pages of a block at once: one after the other costs more.
void make_ready(char* block, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  auto from = (reinterpret_cast<std::uintptr_t>(block) + kFirst - 1) & ~(kFirst - 1);
  auto to = (reinterpret_cast<std::uintptr_t>(block) + bytes) & ~(kFirst - 1);
  (void)::madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_WRITE);  // only a wish
#else
  (void)block, (void)bytes;
#endif
}
}  // namespace

// Blocks grow from 4 KiB to 32 MiB: a trivial file costs one page, a large one few calls. Where all is no longer little
// they are a small part of it and taken at once; where it is much they are asked for in large pages where the system
// has them: taking pages one by one is a good part of the time of a large evaluation. What is larger than a quarter of
// the next block gets a block of its own, so that the rest of the current one is not lost.
void* Arena::allocate_slow(std::size_t size, std::size_t align) {
  bool some = bytes_ >= kSome && bytes_ < kMany;
  std::size_t next = some ? std::bit_floor(bytes_ / 8) : std::clamp(bytes_, kFirst, kLargest);
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
  if (next < kMany) {
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(next));
    block_ = blocks_.back().get();
    if (some) make_ready(block_, next);
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
