#pragma once

#include <set>
#include <vector>

#include "base/types.h"

// Who has to have done what before whom in a plan. Every item has two moments: when it is down (it has let go of what
// it leaves) and when it is up (it has become what it should be). What the ports demand comes first; what is only
// wanted counts where it does not contradict that.
namespace tutti::engine {

class Moments {
 public:
  using Moment = std::size_t;

  explicit Moments(std::size_t items);

  static Moment down(std::size_t item) { return 2 * item; }
  static Moment up(std::size_t item) { return 2 * item + 1; }
  static std::size_t item(Moment m) { return m / 2; }

  // Both moments of the item are one: nothing lies between.
  void join(std::size_t item);
  // The ports see to it that `a` comes before `b`, whenever both are asked for.
  void must(Moment a, Moment b);
  // The program is to wait for `a` before it begins what leads to `b`; false where that would be a circle.
  bool prefer(Moment a, Moment b);
  // The same for each of several; false where one of them would be a circle (the others count).
  bool prefer(const std::vector<Moment>& sooner, Moment b);
  bool before(Moment a, Moment b) const { return after(a)[b]; }
  // All moments that come after `a`, with `a` itself.
  std::vector<bool> after(Moment a) const;
  // Turns: a moment comes in a later one than those it waits for. Valid until something is added.
  void settle();
  u32 turn(Moment m) const { return turn_[m]; }
  u32 turns() const;
  const std::set<std::size_t>& waits(Moment m) const { return waits_[m]; }  // items

 private:
  struct Edge {
    Moment to;
    bool wait;
  };
  std::vector<std::vector<Edge>> next_;
  std::vector<std::set<std::size_t>> waits_;
  std::vector<u32> turn_;
};

}  // namespace tutti::engine
