#include "engine/plan/moments.h"

#include <algorithm>

namespace tutti::engine {

Moments::Moments(std::size_t items) : next_(2 * items), waits_(2 * items), turn_(2 * items) {
  for (std::size_t i = 0; i < items; ++i) must(down(i), up(i));
}

void Moments::join(std::size_t item) { must(up(item), down(item)); }

void Moments::must(Moment a, Moment b) {
  if (a != b) next_[a].push_back({b, false});
}

bool Moments::prefer(Moment a, Moment b) { return prefer(std::vector<Moment>{a}, b); }

bool Moments::prefer(const std::vector<Moment>& sooner, Moment b) {
  std::vector<bool> later = after(b);  // and still so when something that is not in it comes before b
  bool all = true;
  for (Moment a : sooner) {
    if (later[a])
      all = false;
    else if (waits_[b].insert(item(a)).second)
      next_[a].push_back({b, true});
  }
  return all;
}

std::vector<bool> Moments::after(Moment a) const {
  std::vector<bool> seen(next_.size());
  std::vector<Moment> todo{a};
  seen[a] = true;
  while (!todo.empty()) {
    Moment at = todo.back();
    todo.pop_back();
    for (const Edge& e : next_[at])
      if (!seen[e.to]) seen[e.to] = true, todo.push_back(e.to);
  }
  return seen;
}

// Longest paths. What ports demand may be a circle that nobody can keep; waits are in none, so nothing rises for ever.
void Moments::settle() {
  std::fill(turn_.begin(), turn_.end(), 0);
  std::vector<Moment> todo;
  for (Moment m = 0; m < next_.size(); ++m)
    if (!next_[m].empty()) todo.push_back(m);
  while (!todo.empty()) {
    std::vector<Moment> risen;
    for (Moment m : todo)
      for (const Edge& e : next_[m])
        if (u32 least = turn_[m] + (e.wait ? 1 : 0); turn_[e.to] < least) {
          turn_[e.to] = least;
          risen.push_back(e.to);
        }
    todo = std::move(risen);
  }
}

u32 Moments::turns() const { return turn_.empty() ? 1 : *std::max_element(turn_.begin(), turn_.end()) + 1; }

}  // namespace tutti::engine
