#pragma once

#include <cstring>

#include "base/arena.h"
#include "base/symbol.h"

namespace tutti::smartfrog {

// Slots in order of first setting, found by key in constant time: scanned while few, indexed from then on. S has a
// member `key` and may be copied as bytes. Lives in an arena.
template <class S>
struct TableOf {
  u32 size = 0, capacity = 0, mask = 0;
  S* slots = nullptr;
  u32* index = nullptr;  // open addressing, 1 + position

  static constexpr u32 kScan = 8;

  S* begin() const { return slots; }
  S* end() const { return slots + size; }

  S* find(Symbol key) const {
    if (!index) {
      for (u32 i = 0; i < size; i++)
        if (slots[i].key == key) return &slots[i];
      return nullptr;
    }
    for (u32 h = hash(key) & mask;; h = (h + 1) & mask) {
      u32 at = index[h];
      if (at == 0) return nullptr;
      if (slots[at - 1].key == key) return &slots[at - 1];
    }
  }

  // The slot of the key, added at the end where there was none.
  S* put(Arena& arena, Symbol key, bool& added) {
    if (S* s = find(key)) {
      added = false;
      return s;
    }
    added = true;
    if (size == capacity) grow(arena);
    S* s = new (&slots[size++]) S{};
    s->key = key;
    if (index) enter(size - 1);
    return s;
  }

  void copy_from(const TableOf& o, Arena& arena, u32 spare) {
    size = o.size;
    capacity = o.size + spare;
    slots = arena.array<S>(capacity);
    if (size) std::memcpy(static_cast<void*>(slots), o.slots, size * sizeof(S));
    if (!o.index) return;
    mask = o.mask;
    index = arena.array<u32>(mask + 1);
    std::memcpy(index, o.index, (mask + 1) * sizeof(u32));
  }

  // After slots have been taken out.
  void reindex(Arena& arena) {
    index = nullptr;
    if (size > kScan) index_all(arena);
  }

 private:
  static u32 hash(Symbol key) { return key.id() * 0x9E3779B1u >> 7; }
  void enter(u32 i) {
    u32 h = hash(slots[i].key) & mask;
    while (index[h]) h = (h + 1) & mask;
    index[h] = i + 1;
  }
  void index_all(Arena& arena) {
    u32 cells = 32;
    while (cells < capacity * 2) cells *= 2;
    mask = cells - 1;
    index = arena.array<u32>(cells);
    std::memset(index, 0, cells * sizeof(u32));
    for (u32 i = 0; i < size; i++) enter(i);
  }
  void grow(Arena& arena) {
    u32 more = capacity < 4 ? 4 : capacity * 2;
    S* moved = arena.array<S>(more);
    if (size) std::memcpy(static_cast<void*>(moved), slots, size * sizeof(S));
    slots = moved;
    capacity = more;
    if (capacity > kScan && (!index || mask + 1 < capacity * 2)) index_all(arena);
  }
};

}  // namespace tutti::smartfrog
