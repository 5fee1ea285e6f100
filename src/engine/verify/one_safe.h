#pragma once

#include <map>
#include <vector>

#include "engine/rules/rules.h"

// Of which instances it is certain that two of their tokens never meet (their nets are 1-safe, with what the program
// pushes). In goes a system, out comes one bit for each instance; true is a proof, false says nothing.
//
// Why it is asked: a marking is a set, so tokens that meet become one, and then it matters in which order the steps of
// one instance are taken: a place that is left and entered again starts its transitions once or twice, depending on
// what else has happened. The reduction (reduce.h) takes single steps first only because their order does not matter.
//
// How: two elements are *concurrent* when some state may mark both. The smallest relation that holds for what the
// start marks, for what one step marks together, and for x and what a step marks whenever it holds for x and all that
// the step takes away, has every pair that is ever marked together (by induction over the steps, up to the first at
// which tokens meet). That step marks an element that is marked already: the relation then holds between the element
// and itself. So where it does not, no tokens meet. Ports are left out: they only make steps wait. One behaviour after
// the other: the next begins with the places in which the one before ends.
//
// Rejected: looking at all markings of an instance alone (2^n for n parallel branches: a server that configures a
// thousand dependencies at once is usual), and noticing in the reduced search that tokens meet, which comes too late: a
// reduced search may well leave out the very orders in which they do.
namespace tutti::engine {

class OneSafe {
 public:
  explicit OneSafe(const Rules& rules);
  bool of(u32 instance) const { return safe_[instance]; }

 private:
  // What may be marked when no behaviour is current: elements, and which of them together (pairs, lower one first).
  struct Start {
    u32 type = 0;
    std::vector<u32> elements;
    std::vector<std::pair<u32, u32>> together;
    friend auto operator<=>(const Start&, const Start&) = default;
  };
  u32 number(Start start);
  u32 after(u32 start, u32 behaviour);

  const Rules& rules_;
  std::vector<bool> safe_;
  std::vector<Start> starts_;
  std::map<Start, u32> numbers_;
  std::map<std::pair<u32, u32>, u32> after_;  // (start, behaviour) -> start of the next; kNone: tokens may meet
};

}  // namespace tutti::engine
