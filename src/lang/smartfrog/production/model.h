#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "lang/smartfrog/eval/table.h"
#include "lang/smartfrog/syntax/ast.h"
#include "tree/session.h"

// What the production compiler works on: component descriptions that change from phase to phase. Unlike the core, a
// link is a value like any other until the link phase, a component knows what it is in, and two attributes may hold the
// same component (a link shares what it refers to; it is copied only when printed).
namespace tutti::smartfrog::production {

struct Description;
struct Vector;

enum class What : u8 {
  kBasic,        // a scalar: `basic`
  kReference,    // `ref`
  kDescription,  // `description`
  kVector,       // `vector`
  kApply,        // a function to be applied to the attributes of `description`
  kAssert,       // the same, which has to give true
  kTbd,
  kVariable,   // a VAR of the constraint extension: `basic` holds its number
  kTemporary,  // a checked static assertion: not part of the result
};

struct Item {
  What what = What::kBasic;
  bool lazy = false;  // answered at run time
  bool data = false;  // never answered
  Value basic;        // of all kinds the origin
  union {
    const Reference* ref = nullptr;
    Description* description;
    Vector* vector;
  };

  // Something that the link phase has to replace.
  bool is_link() const {
    return !data && (what == What::kReference || what == What::kApply || what == What::kAssert || what == What::kTbd);
  }
  bool is(What w) const { return what == w; }
};

struct Vector {
  std::span<const Item> items;
  bool finished = false;
  u64 nodes = 0;
  Value value;  // once finished
};

struct Slot {
  Symbol key;
  Pos placed;
  std::span<const Symbol> path;  // of a placement that has not been made yet; the key is then a name nobody can write
  std::span<const Symbol> tags;  // sorted by text
  Item item;
  Symbol kept;     // the way to what a link refers to, where links are kept (keep.cpp)
  u32 failed = 0;  // the epoch (production.h) in which it was reported that it has no value
  bool resolving = false;
  bool merge = false;  // written within merge( ): composed with what a prototype has of that name

  bool has_tag(Symbol tag) const { return std::find(tags.begin(), tags.end(), tag) != tags.end(); }
};

// One of the prototypes still to be taken in.
struct Type {
  const Reference* ref = nullptr;
  const Body* body = nullptr;
  Description* base = nullptr;  // what a merged component is composed with
  bool merge = false;
};

struct Description {
  Description* parent = nullptr;
  TableOf<Slot> slots;
  std::span<Type> types;  // in the order written; taken in from the right, and the span shrinks
  std::span<const OrderRule> orders;
  Pos begin, end;
  bool data = false;        // extends DATA: not to be deployed
  bool expression = false;  // an operator, IF, SWITCH or vector: begin and end are those of the whole
  bool types_done = false;  // it and all in it
  bool types_busy = false;
  bool types_within = false;  // what is in it is being looked at: it cannot be done before that is
  u64 types_failed = 0;       // how often something was taken in (production.h) when it could not be
  bool places = false;        // there may be placements in it
  // Nothing but values down to the bottom: copies of what it is in share it. Its parent is then that of one of them,
  // and it is replaced by a copy before anything is placed in it.
  bool plain = false;
  bool links_done = false;
  bool links_busy = false;
  bool finished = false;
  u64 nodes = 0;
  Value value;  // once finished
};

}  // namespace tutti::smartfrog::production
