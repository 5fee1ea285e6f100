#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "lang/cue/eval/vertex.h"

namespace tutti::cue {

namespace order {
class WrittenOrder;
}

// The arcs of a struct in the order in which they are shown, without list elements and lets. The literals that it is
// made of follow each other by the places where they, or the first references through which they came, are written, a
// label where it is mentioned first. What came by one reference, operands of `&` and files stand side by side: of the
// labels that may come next the smallest by name does, and labels that would each have to come before the other come
// together, by name.
std::vector<Vertex*> ordered_arcs(const Sources& sources, Vertex* v);

// The same for many structs: those that are made of the same literals and have the same fields have the same order,
// which is found once.
class ArcOrder {
 public:
  explicit ArcOrder(const Sources& sources);
  ~ArcOrder();
  ArcOrder(const ArcOrder&) = delete;
  ArcOrder& operator=(const ArcOrder&) = delete;
  void of(Vertex* v, std::vector<Vertex*>& out);

 private:
  using Key = std::vector<u64>;
  struct Hash {
    std::size_t operator()(const Key& k) const;
  };

  const Sources& sources_;
  std::unique_ptr<order::WrittenOrder> written_;
  std::unordered_map<Key, std::vector<u32>, Hash> known_;  // positions among the arcs
  Key key_;
};

}  // namespace tutti::cue
