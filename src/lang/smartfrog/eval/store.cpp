#include "lang/smartfrog/eval/store.h"

namespace tutti::smartfrog {

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
  t->copy_from(*old, arena_, 4);
  t->orders = old->orders;
  // Two tables hold these sub-stores now.
  for (const Slot& s : *t)
    if (s.store) s.store->shared = true;
  store->table = t;
  return t;
}

Slot* Stores::put(Store* store, Symbol key, bool& added) { return own(store)->put(arena_, key, added); }

Store* Stores::writable(Slot* slot) {
  if (slot->store->shared) slot->store = clone(slot->store);
  return slot->store;
}

}  // namespace tutti::smartfrog
