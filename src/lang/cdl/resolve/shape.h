#pragma once

#include <span>

#include "base/arena.h"
#include "lang/cdl/resolve/library.h"

namespace tutti::cdl {

// Elements that another replaced: it takes over their attributes (7.2.2.1, step 2.1), the nearest first.
struct Overridden {
  const Element* element;
  const Overridden* next = nullptr;
};

// One piece of a list's content, with what it replaced.
struct Slot {
  Item item;
  const Overridden* overridden = nullptr;
  const Element* via = nullptr;  // the element whose cdl:extends brought it, null when it stands in the list itself
};

// An element with its prototypes folded in: what its attributes, its reference and its content are. Content that comes
// from prototypes precedes new content; what is replaced keeps its place.
struct Shape {
  std::span<const Slot> slots;
  std::span<const Attribute> attributes;
  const Reference* ref = nullptr;
  bool lazy = false;
};

// Elements over the shape of their prototype (null: none), the first one extending it, each next one extending the one
// before: the shape of the last. 7.2.2 with these readings: a value, an empty value or a reference of its own replaces
// a reference, laziness or text of the prototype; text of the prototype is inherited where there is none; elements with
// one name stay together. Costs what the elements have of their own plus the result, however long the chain is.
Shape fold(Arena& arena, std::span<const Element* const> chain, const Shape* prototype);

// The attributes of `e` joined with those of what it replaced (not cdl:lazy, which belongs to the value).
std::span<const Attribute> join_attributes(Arena& arena, std::span<const Attribute> own,
                                           std::span<const Attribute> inherited);
bool is_lazy_attribute(const Attribute& a);

}  // namespace tutti::cdl
