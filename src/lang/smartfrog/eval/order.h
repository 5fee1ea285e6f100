#pragma once

#include <map>
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
  // Rules of a block or prototype replace all that were there, as attributes are overridden (below figure 19): those
  // that speak of something the new ones say nothing about are lost.
  void replace(std::span<const OrderRule> before, std::span<const OrderRule> now);
  void report(Session& session) const;

 private:
  struct Cause {
    Symbol later, earlier;
    Pos written, later_placed;
    u32 count = 1;
  };
  std::unordered_map<u64, std::size_t> known_;
  std::vector<Cause> causes_;
  std::map<std::pair<Pos, Pos>, std::pair<const OrderRule*, const OrderRule*>> lost_;  // and what replaced it
};

// The rule that has a say in the position of an attribute, or nothing.
const OrderRule* rule_about(std::span<const OrderRule> rules, Symbol name);

}  // namespace tutti::smartfrog
