#include "lang/cue/eval/room.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/budget.h"
#include "base/limit_place.h"

namespace tutti::cue {

Room::~Room() {
  for (const Block& b : blocks_) Region::give(b.place, b.bytes);
}

namespace {
// Sizes of which there are eight between one power of two and the next, so that what was given back serves again.
std::size_t one_of_few_sizes(std::size_t bytes) {
  std::size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) & ~(step - 1);
}
}  // namespace

void* Room::take_large(std::size_t bytes) {
  std::size_t size = one_of_few_sizes(bytes);
  auto it = std::ranges::find(large_, size, [](const auto& p) { return p.first; });
  if (it == large_.end() || !it->second) return allocate(size, Region::kUnit);
  Left* p = it->second;
  it->second = p->next;
  return p;
}

void Room::give_large(void* place, std::size_t bytes) {
  std::size_t size = one_of_few_sizes(bytes);
  auto it = std::ranges::find(large_, size, [](const auto& p) { return p.first; });
  if (it == large_.end()) it = large_.insert(it, {size, {}});
  Left* p = new (place) Left;
  p->next = it->second;
  it->second = p;
}

// Blocks double, as those of every arena; what is larger than a quarter of the next has one of its own. Of a block as
// much is made ready at a time as is a small part of all.
void* Room::allocate_slow(std::size_t size, std::size_t align) {
  constexpr std::size_t kLargest = std::size_t{32} << 20, kPart = 64;
  if (capacity_ < block_bytes_ && used_ + align + size <= block_bytes_) {
    std::size_t part = std::max({Region::kReady, std::bit_floor(bytes_ / kPart), used_ + align + size - capacity_});
    std::size_t more = std::min(block_bytes_ - capacity_, (part + Region::kReady - 1) & ~(Region::kReady - 1));
    Region::make_ready(block_ + capacity_, more);
    capacity_ += more;
    return allocate(size, align);
  }
  if (size > limit_ || bytes() > limit_ - size)
    throw LimitError("LIMIT-MEMORY", fmt::format("needs more than {} bytes of memory (--limit memory=N)", limit_),
                     limit_place());
  auto block = [&](std::size_t bytes) {
    auto* place = static_cast<char*>(Region::take(bytes));
    if (!place) throw LimitError("LIMIT-MEMORY", "needs more memory than there is", limit_place());
    blocks_.push_back({place, bytes});
    bytes_ += bytes;
    return place;
  };
  std::size_t next = std::clamp(std::bit_floor(std::max<std::size_t>(bytes_, 1)), Region::kPage, kLargest);
  if (size > next / 4) return block(std::bit_ceil(std::max(size, Region::kPage)));
  block_ = block(next);
  block_bytes_ = next;
  capacity_ = next < 2 * Region::kReady ? next : 0;
  used_ = 0;
  return allocate(size, align);
}

}  // namespace tutti::cue
