#include "base/symbol.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include "base/arena.h"
#include "base/budget.h"

namespace tutti {
namespace {

constexpr u32 kChunkBits = 12, kChunk = 1u << kChunkBits, kChunks = 1u << 14;  // 64 million names
// Zeros that the system gives, which nothing has to write: few of them are ever used.
constinit std::array<std::atomic<std::string_view*>, kChunks> chunks{};

// Names are found through sharded hash tables (a lock each, rarely shared) and read back through a two-level array of
// views that never moves, so reading takes no lock. Names are never given back: a run has few different ones.
class SymbolTable {
 public:
  SymbolTable() { put(0, {}); }

  // The same few names come again and again: those that this thread asked for last are found without a lock.
  u32 intern(std::string_view name) {
    if (name.empty()) return 0;
    u64 hash = XXH3_64bits(name.data(), name.size());
    thread_local std::array<Slot, 256> recent;
    Slot& last = recent[hash & (recent.size() - 1)];
    auto check = static_cast<u32>(hash >> 32);
    if (last.id == 0 || last.hash != check || text(last.id) != name) last = {check, find(name, hash)};
    return last.id;
  }

  std::string_view text(u32 id) const {
    return chunks[id >> kChunkBits].load(std::memory_order_acquire)[id & (kChunk - 1)];
  }

 private:
  struct Slot {
    u32 hash = 0;
    u32 id = 0;
  };

  u32 find(std::string_view name, u64 hash) {
    Shard& shard = shards_[hash >> 58];
    std::lock_guard lock(shard.mutex);
    if (shard.count * 2 >= shard.slots.size()) shard.grow();
    std::size_t mask = shard.slots.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      Slot& slot = shard.slots[at];
      if (slot.id == 0) {
        u32 id = next_.fetch_add(1, std::memory_order_relaxed);
        if (id >> kChunkBits >= kChunks) {
          next_.fetch_sub(1, std::memory_order_relaxed);
          throw LimitError("LIMIT-NAMES", "more different names than there is room for");
        }
        put(id, keep(name));
        slot = {static_cast<u32>(hash), id};
        shard.count++;
        return id;
      }
      if (slot.hash == static_cast<u32>(hash) && text(slot.id) == name) return slot.id;
    }
  }

  // All shards keep their names side by side: the few names of a small run are in a page or two.
  std::string_view keep(std::string_view name) {
    std::lock_guard lock(names_mutex_);
    return names_.copy(name);
  }

  struct Shard {
    std::mutex mutex;
    std::vector<Slot> slots;
    std::size_t count = 0;

    // Growing needs no look at the names: the low half of each hash is kept, and a shard stays far below 2^32 slots.
    void grow() {
      std::vector<Slot> bigger(slots.empty() ? 16 : slots.size() * 4);
      for (Slot s : slots) {
        if (s.id == 0) continue;
        std::size_t at = s.hash & (bigger.size() - 1);
        while (bigger[at].id != 0) at = (at + 1) & (bigger.size() - 1);
        bigger[at] = s;
      }
      slots = std::move(bigger);
    }
  };

  void put(u32 id, std::string_view name) {
    std::atomic<std::string_view*>& chunk = chunks[id >> kChunkBits];
    std::string_view* views = chunk.load(std::memory_order_acquire);
    if (views == nullptr) {
      // An empty view is all zeros, so that only the pages that hold names are ever touched.
      auto* fresh = static_cast<std::string_view*>(std::calloc(kChunk, sizeof(std::string_view)));
      if (fresh == nullptr) throw std::bad_alloc();
      if (chunk.compare_exchange_strong(views, fresh, std::memory_order_acq_rel)) {
        views = fresh;
      } else {
        std::free(fresh);
      }
    }
    views[id & (kChunk - 1)] = name;
  }

  std::array<Shard, 64> shards_;
  std::mutex names_mutex_;
  Arena names_;
  std::atomic<u32> next_{1};
};

SymbolTable& table() {
  static SymbolTable& t = *new SymbolTable;  // never destroyed: symbols outlive every other static
  return t;
}

}  // namespace

Symbol::Symbol(std::string_view name) : id_(table().intern(name)) {}
std::string_view Symbol::text() const { return id_ == 0 ? std::string_view{} : table().text(id_); }

}  // namespace tutti
