#pragma once

#include <set>
#include <vector>

#include "engine/rules/rules.h"
#include "engine/verify/one_safe.h"
#include "engine/verify/property.h"

namespace tutti::engine {

// Partial-order reduction: which steps may be explored alone. In goes a state, out come the steps to take from it:
// enough of them that every state in which the system ends is found, and with properties every order that they can tell
// apart.
//
// A set of steps is *persistent* when whatever else can happen before one of them neither makes one of them impossible
// nor, taken after it, leads elsewhere. Then only orders are left out that end where others do. Behaviours are finite,
// so nothing is postponed for ever. Two kinds of sets are tried.
//
// 1. One step (or the outcomes of one transition) of an instance whose tokens never meet (one_safe.h). There another
//    step of the same instance takes other tokens and gives other ones, so it neither takes away what this one needs
//    nor makes the same: they commute. Without that they do not: `hand` may put a token where `main` was just left, or
//    before it is left, and two become one in the second case only.
// 2. All steps that an instance can take, of any instance, when no further step of it waits for a port: then the next
//    thing the instance does is one of them, whatever the others do before. Nothing is asked of its own steps among
//    each other, since all their orders are explored; alike instances beside each other cost their sum, not their
//    product.
//
// In both cases what other instances and the program do must commute with the set. Instances touch each other only
// through ports, and that is what is asked there (safe_fire, safe_enter and so on), from what the behaviours that are
// queued or still to be pushed may do to a port. A port goes inactive only when a place of it is left for outside
// (an exit), and active or taken up only when a place of it is entered from outside; tokens that meet change neither,
// so these conditions are about all nets. Firing: the last token to leave a port stands on an exit, so the port
// refuses already and nobody can be too late for it; where several tokens may be the last, or a sibling may come back,
// which of them waits for the users is a choice (1 asks for that, 2 explores it). Entering: taking up a port that may
// go or be disconnected, or making one refuse that somebody may take up, is first come first served. Finishing and
// pushing: the next behaviour may make a port refuse. Failing makes ports refuse.
//
// For properties, steps that can change what is observed are never explored without all others. No instance that may
// merge tokens is ever looked at but by 2 or in full, so all that it can do by itself is seen, merging included.
//
// Who follows one run from state to state may keep `Awake`, the instances that may have a step: what an instance may do
// depends on itself, on the program and on those that it is linked with, so only a step of one of them wakes it.
// Without that every state costs as much as there are instances, and a chain of n the square of n.
class Awake {
 public:
  explicit Awake(const Rules& rules);
  // After a step: who it was, and whom it concerns.
  void after(const Step& step);
  void sleep(u32 instance) { awake_.erase(instance); }
  const std::set<u32>& all() const { return awake_; }

 private:
  void wake(u32 instance);
  const Rules& rules_;
  std::set<u32> awake_;
};

class Reduction {
 public:
  Reduction(const Rules& rules, const std::vector<Property>& properties);

  // `hint`: the instance to look at first, any will do. With `awake` the others are not asked, and whoever has no step
  // falls asleep; the answer is the same.
  void steps(const u64* s, u32 hint, std::vector<Step>& steps, Awake* awake = nullptr) const;
  bool one_safe(u32 instance) const { return one_safe_.of(instance); }

 private:
  // The step by itself (1), and among all of its instance (2).
  bool safe(const u64* s, const Step& step) const;
  bool safe_together(const u64* s, const Step& step) const;
  // The step of an instance that goes by itself, all outcomes of its transition with it. `any`: whether it has steps.
  bool alone(const u64* s, u32 i, std::vector<Step>& steps, bool& any) const;
  bool instruction_alone(const u64* s, std::vector<Step>& steps) const;
  // All steps of the instance, when they are a persistent set.
  bool all_of(const u64* s, u32 i, std::vector<Step>& steps) const;
  bool waits_for_ports(const u64* s, u32 i, const std::vector<Step>& possible) const;
  u32 tokens(const u64* s, u32 i) const;
  bool deleted_under_way(const u64* s, u32 i) const;
  bool early_user(const u64* s, u32 i) const;
  bool safe_failure(const u64* s, u32 i) const;
  bool safe_finish(const u64* s, u32 i) const;
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
  OneSafe one_safe_;
  mutable std::vector<Step> found_;
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
