#pragma once

#include <unordered_map>
#include <vector>

#include "lang/smartfrog/syntax/ast.h"
#include "tree/session.h"

namespace tutti::smartfrog {

// The warning of section 10.4: a block sets attributes that a prototype had already put in another order, and the order
// of the prototype stays. One warning for each pair of places whose order wins, however many blocks it concerns.
class OrderWarnings {
 public:
  // `later` is written after `earlier` (at `written`), but `later_placed` puts it before. Rules that speak of both make
  // it no surprise.
  void add(std::span<const OrderRule> rules, Symbol later, Symbol earlier, Pos written, Pos later_placed,
           Pos earlier_placed);
  void report(Session& session) const;

 private:
  struct Cause {
    Symbol later, earlier;
    Pos written, later_placed;
    u32 count = 1;
  };
  std::unordered_map<u64, std::size_t> known_;
  std::vector<Cause> causes_;
};

}  // namespace tutti::smartfrog
