#pragma once

#include <vector>

#include "engine/rules/rules.h"
#include "engine/verify/property.h"

namespace tutti::engine {

// Partial-order reduction: which step may be explored alone.
//
// Instances touch each other only through ports, so nearly every step commutes with everything that others can do
// before it. {step} is then a persistent set: every state in which the system ends is still found, and every
// interleaving left out differs only in the order of steps that do not care. The cases in which order does matter, all
// of them about a provider that may leave a port and a user that may take it up, are the conditions in reduce.cpp; what
// may still happen is read off the behaviours that are queued or still to be pushed. Behaviours are finite, so nothing
// is postponed for ever. For properties, steps that can change what is observed are never explored alone.
class Reduction {
 public:
  Reduction(const Rules& rules, const std::vector<Property>& properties);

  // The steps to explore from a state: one (or the outcomes of one transition), or all. `hint`: the instance to look at
  // first, any will do.
  void steps(const u64* s, u32 hint, std::vector<Step>& steps) const;

 private:
  bool safe(const u64* s, const Step& step) const;
  bool safe_fire(const u64* s, u32 i, u32 place) const;
  bool safe_enter(const u64* s, u32 i, u32 station) const;
  bool safe_instruction(const u64* s, u32 pc) const;
  bool visible(const u64* s, const Step& step) const;
  // Would the port refuse once behaviour b is current? Only places are marked.
  bool refuses_under(const u64* s, u32 i, u32 port, u32 b) const;
  bool may_leave(const u64* s, u32 i, u32 port) const;          // with what is queued or still to be pushed
  bool may_take_up(const u64* s, u32 i, u32 use) const;         // the same
  bool may_take_up_queued(const u64* s, u32 i, u32 use) const;  // only with what is queued
  bool enters(u32 i, u32 push, u32 port) const;                 // in the behaviour that is pushed as the `push`-th
  template <class F>
  bool any_user(const u64* s, u32 i, u32 port, F&& f) const;

  struct PerType {
    model::BitRows exits;   // behaviour -> provide ports that it leaves
    model::BitRows enters;  // behaviour -> ports whose group it enters from outside
  };
  struct Watch {
    std::vector<u64> elements;  // elements whose marking is observed
    std::vector<u64> ports;
    std::vector<bool> behaviours;
    bool idle = false;
  };

  const Rules& rules_;
  std::vector<PerType> types_;
  std::vector<model::BitRows> later_exits_, later_enters_;  // per instance: row k is the union over pushes k and after
  // Per instance: ports that it enters in its first behaviour, whichever that is, because it is half way from the
  // start.
  std::vector<std::vector<u64>> half_way_enters_;
  std::vector<std::vector<u32>> users_;  // per instance and provide port: links
  // Per provider: links to come of those that are in their use port from the start.
  std::vector<std::vector<u32>> early_users_;
  std::vector<u32> first_port_;
  std::vector<Watch> watch_;  // per instance, empty when nothing is observed
  bool watching_ = false;
};

}  // namespace tutti::engine
