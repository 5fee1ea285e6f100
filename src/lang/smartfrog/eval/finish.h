#pragma once

#include "lang/smartfrog/eval/store.h"
#include "tree/session.h"

namespace tutti::smartfrog {

// Stores to the common tree. A table shared by several stores becomes one body of the tree, so the work is in the
// number of different tables and not in what they would print. No recursion.
class Finisher {
 public:
  explicit Finisher(Session& session) : session_(session) {}

  Value finish(const Slot& slot);

 private:
  void build(Table* root);
  void build_one(Table* t);
  static Value tree_of(const Slot& slot);

  Session& session_;
  std::vector<Entry> entries_;
};

// The attributes in an order that keeps to the rules and is otherwise as it was: the first attribute whose predecessors
// are all out goes next. False (with an error) when the rules contradict each other.
bool apply_order(Session& session, std::span<const OrderRule> rules, std::vector<Entry>& entries);

}  // namespace tutti::smartfrog
