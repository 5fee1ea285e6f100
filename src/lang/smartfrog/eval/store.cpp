#include "lang/smartfrog/eval/store.h"

#include <cstring>

namespace tutti::smartfrog {
namespace {
u32 hash_of(Symbol key) { return key.id() * 0x9E3779B1u >> 7; }
}  // namespace

Slot* Table::find(Symbol key) const {
  if (!index) {
    for (u32 i = 0; i < size; i++)
      if (slots[i].key == key) return &slots[i];
    return nullptr;
  }
  for (u32 h = hash_of(key) & mask;; h = (h + 1) & mask) {
    u32 at = index[h];
    if (at == 0) return nullptr;
    if (slots[at - 1].key == key) return &slots[at - 1];
  }
}

Store* Stores::make() {
  Store* s = arena_.make<Store>();
  s->table = arena_.make<Table>();
  return s;
}

Store* Stores::clone(Store* from) {
  Store* s = arena_.make<Store>();
  s->table = from->table;
  s->table->borrowed = true;
  s->incomplete = from->incomplete;
  return s;
}

void Stores::adopt(Store* to, Store* from) {
  to->table = from->table;
  to->table->borrowed = true;
  to->incomplete |= from->incomplete;
}

Table* Stores::own(Store* store) {
  Table* old = store->table;
  if (!old->borrowed) return old;
  Table* t = arena_.make<Table>();
  t->size = old->size;
  t->capacity = old->size + 4;
  t->slots = arena_.array<Slot>(t->capacity);
  if (old->size) std::memcpy(static_cast<void*>(t->slots), old->slots, old->size * sizeof(Slot));
  t->orders = old->orders;
  // Two tables hold these sub-stores now.
  for (u32 i = 0; i < t->size; i++)
    if (t->slots[i].store) t->slots[i].store->shared = true;
  if (old->index) {
    t->mask = old->mask;
    t->index = arena_.array<u32>(t->mask + 1);
    std::memcpy(t->index, old->index, (t->mask + 1) * sizeof(u32));
  }
  store->table = t;
  return t;
}

void Stores::index_all(Table* t) {
  u32 slots = 32;
  while (slots < t->capacity * 2) slots *= 2;
  t->mask = slots - 1;
  t->index = arena_.array<u32>(slots);
  std::memset(t->index, 0, slots * sizeof(u32));
  for (u32 i = 0; i < t->size; i++) {
    u32 h = hash_of(t->slots[i].key) & t->mask;
    while (t->index[h]) h = (h + 1) & t->mask;
    t->index[h] = i + 1;
  }
}

void Stores::grow(Table* t) {
  u32 capacity = t->capacity < 4 ? 4 : t->capacity * 2;
  Slot* slots = arena_.array<Slot>(capacity);
  if (t->size) std::memcpy(static_cast<void*>(slots), t->slots, t->size * sizeof(Slot));
  t->slots = slots;
  t->capacity = capacity;
  if (capacity > Table::kScan && (t->index == nullptr || t->mask + 1 < capacity * 2)) index_all(t);
}

Slot* Stores::put(Store* store, Symbol key, bool& added) {
  Table* t = own(store);
  if (Slot* s = t->find(key)) {
    added = false;
    return s;
  }
  added = true;
  if (t->size == t->capacity) grow(t);
  Slot* s = new (&t->slots[t->size++]) Slot{key, {}, nullptr, {}};
  if (t->index) {
    u32 h = hash_of(key) & t->mask;
    while (t->index[h]) h = (h + 1) & t->mask;
    t->index[h] = t->size;
  }
  return s;
}

Store* Stores::writable(Slot* slot) {
  if (slot->store->shared) slot->store = clone(slot->store);
  return slot->store;
}

}  // namespace tutti::smartfrog
