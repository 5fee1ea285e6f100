#pragma once

#include "base/arena.h"
#include "lang/smartfrog/eval/table.h"
#include "lang/smartfrog/syntax/ast.h"
#include "tree/value.h"

// The store of definition 6 as the compiler keeps it: lists of identifiers and values with constant-time look-up, and
// shared wherever one was copied from another. Copying a store (a link, an `extends P`) only marks it; it is taken
// apart when, and as far as, one of the two changes.
namespace tutti::smartfrog {

struct Store;

struct Slot {
  Symbol key;
  Pos placed;              // the attribute that first put the key here: who decided its position
  Store* store = nullptr;  // a sub-store, or
  Value value;             // a basic value; of a sub-store only the origin is used
};

// Owned by one Store, or borrowed by several (then nobody may change it).
struct Table : TableOf<Slot> {
  bool borrowed = false;
  bool built = false;
  std::span<const OrderRule> orders;
  u64 nodes = 0;  // values in the finished tree, once `built`
  Value value;    // the finished tree
};

struct Store {
  Table* table = nullptr;
  u32 scope = 0;            // 1 + its place among the components being defined, 0 when it is none of them
  bool shared = false;      // several slots hold this store: it may not change in place
  bool incomplete = false;  // an error left something out: what is missing here is no second error
};

class Stores {
 public:
  explicit Stores(Arena& arena) : arena_(arena) {}

  Store* make();
  // Another store with the same contents, in constant time.
  Store* clone(Store* from);
  // The contents become those of `from`, in constant time. Only for a store that is empty.
  void adopt(Store* to, Store* from);
  // The table of a store that is about to change.
  Table* own(Store* store);
  // The slot of the key, added at the end where there was none (then `added`).
  Slot* put(Store* store, Symbol key, bool& added);
  // The sub-store of a slot of an owned table, unshared so that it may change.
  Store* writable(Slot* slot);

 private:
  Arena& arena_;
};

}  // namespace tutti::smartfrog
