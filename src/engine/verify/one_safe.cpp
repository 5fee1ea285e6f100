// See one_safe.h. What would be three elements in a row (a place, its only transition, the ending of that) is one slot
// here: what is concurrent with the first is so with the others, and a server with a thousand branches has a thousand
// slots instead of five thousand elements, a twenty-fifth of the pairs.
#include "engine/verify/one_safe.h"

#include <algorithm>
#include <numeric>

namespace tutti::engine {

using model::BitRows;
using model::ComponentType;
using model::Outcome;

namespace {

constexpr std::size_t kMostSlots = 10'000;  // 12 MB of pairs; beyond that nothing is said

// A step as the net knows it: tokens are taken and given.
struct Move {
  std::vector<u32> takes, gives;
};

class Concurrency {
 public:
  Concurrency(const ComponentType& type, u32 behaviour) : t_(type), b_(behaviour) {}

  // False: tokens may meet. `elements` and `together` become those of the places where the behaviour ends.
  bool follow(std::vector<u32>& elements, std::vector<std::pair<u32, u32>>& together) {
    reach(elements);
    join_rows(elements);
    if (slots_ > kMostSlots || !relate(elements, together)) return false;
    std::vector<u32> ends;
    for (u32 e = 0; e < t_.places.size(); ++e)
      if (reached_[e] && live_[slot_[e]] && t_.out(e, b_).empty()) ends.push_back(e);
    together.clear();
    for (std::size_t x = 0; x < ends.size(); ++x)
      for (std::size_t y = x + 1; y < ends.size(); ++y)
        if (pairs_.test(slot_[ends[x]], slot_[ends[y]])) together.push_back({ends[x], ends[y]});
    elements = std::move(ends);
    return true;
  }

 private:
  // All elements that may ever be marked, and the moves that may ever happen.
  void reach(const std::vector<u32>& from) {
    reached_.assign(t_.elements, false);
    std::vector<u32> todo;
    auto mark = [&](u32 e) {
      if (!reached_[e]) reached_[e] = true, todo.push_back(e);
    };
    std::vector<std::vector<u32>> feeds(t_.elements);  // ending -> its station
    std::vector<u32> missing(t_.stations.size());
    for (u32 s = 0; s < t_.stations.size(); ++s) {
      missing[s] = t_.stations[s].needs;
      for (u32 e : t_.needs_of(t_.stations[s])) feeds[e].push_back(s);
    }
    for (u32 e : from) mark(e);
    while (!todo.empty()) {
      u32 e = todo.back();
      todo.pop_back();
      if (t_.is_place(e)) {
        auto out = t_.out(e, b_);
        if (out.empty()) continue;
        Move fire{{e}, {}};
        for (u32 k : out) fire.gives.push_back(t_.transition_element(k)), mark(fire.gives.back());
        moves_.push_back(std::move(fire));
      } else if (t_.is_transition(e)) {
        for (const Outcome& o : t_.outcomes_of(t_.transitions[t_.element_transition(e)]))
          moves_.push_back({{e}, {o.ending}}), mark(o.ending);
      } else {
        for (u32 s : feeds[e]) {
          if (--missing[s]) continue;
          auto needs = t_.needs_of(t_.stations[s]);
          moves_.push_back({{needs.begin(), needs.end()}, {t_.stations[s].place}});
          mark(t_.stations[s].place);
        }
      }
    }
  }

  // An element that only one move gives, and that move gives nothing else and takes only one: it stands in the slot of
  // what is taken.
  void join_rows(const std::vector<u32>& from) {
    std::vector<u32> givers(t_.elements);
    for (u32 e : from) ++givers[e];
    for (const Move& m : moves_)
      for (u32 e : m.gives) ++givers[e];
    std::vector<u32> before(t_.elements, kNone);
    for (const Move& m : moves_)
      if (m.takes.size() == 1 && m.gives.size() == 1 && givers[m.gives[0]] == 1) before[m.gives[0]] = m.takes[0];
    slot_.assign(t_.elements, kNone);
    for (u32 e = 0; e < t_.elements; ++e) {
      if (!reached_[e]) continue;
      u32 first = e;
      for (u32 steps = 0; before[first] != kNone && steps < t_.elements; ++steps) first = before[first];
      if (slot_[first] == kNone) slot_[first] = static_cast<u32>(slots_++);
      for (u32 x = e; x != first && slot_[x] == kNone; x = before[x]) slot_[x] = slot_[first];
    }
    std::vector<Move> left;
    for (Move& m : moves_) {
      for (std::vector<u32>* side : {&m.takes, &m.gives})
        for (u32& e : *side) e = slot_[e];
      std::sort(m.takes.begin(), m.takes.end());
      m.takes.erase(std::unique(m.takes.begin(), m.takes.end()), m.takes.end());
      if (m.takes != m.gives) left.push_back(std::move(m));
    }
    moves_ = std::move(left);
  }

  bool relate(const std::vector<u32>& from, const std::vector<std::pair<u32, u32>>& together) {
    pairs_ = BitRows(slots_, slots_);
    live_.assign(slots_, false);
    for (u32 e : from) live_[slot_[e]] = true;
    for (auto [x, y] : together)
      if (!relate(slot_[x], slot_[y])) return false;
    common_.resize(pairs_.words());
    for (bool changed = true; changed;) {
      changed = false;
      for (const Move& m : moves_) {
        if (!possible(m)) continue;
        for (u32 e : m.gives) {
          changed = changed || !live_[e];
          live_[e] = true;
        }
        if (!carry_over(m, changed)) return false;
      }
    }
    return true;
  }

  bool relate(u32 x, u32 y) {
    pairs_.set(x, y), pairs_.set(y, x);
    return x != y;
  }

  bool possible(const Move& m) const {
    for (std::size_t x = 0; x < m.takes.size(); ++x) {
      if (!live_[m.takes[x]]) return false;
      for (std::size_t y = 0; y < x; ++y)
        if (!pairs_.test(m.takes[x], m.takes[y])) return false;
    }
    return true;
  }

  // What is concurrent with all that a move takes is so with all that it gives, and these are with each other.
  bool carry_over(const Move& m, bool& changed) {
    std::copy_n(pairs_.row(m.takes[0]), common_.size(), common_.begin());
    for (std::size_t k = 1; k < m.takes.size(); ++k)
      for (std::size_t w = 0; w < common_.size(); ++w) common_[w] &= pairs_.row(m.takes[k])[w];
    for (u32 e : m.gives) {
      for (u32 other : m.gives) {
        if (other == e || pairs_.test(e, other)) continue;
        changed = true;
        if (!relate(e, other)) return false;
      }
      for (std::size_t w = 0; w < common_.size(); ++w)
        for (u64 fresh = common_[w] & ~pairs_.row(e)[w]; fresh != 0; fresh &= fresh - 1) {
          changed = true;
          if (!relate(e, static_cast<u32>(w * 64 + static_cast<u32>(std::countr_zero(fresh))))) return false;
        }
    }
    return true;
  }

  const ComponentType& t_;
  u32 b_;
  std::vector<bool> reached_, live_;
  std::vector<Move> moves_;
  std::vector<u32> slot_;
  std::size_t slots_ = 0;
  BitRows pairs_;
  std::vector<u64> common_;
};

}  // namespace

OneSafe::OneSafe(const Rules& rules) : rules_(rules) {
  const model::System& system = rules.system();
  for (u32 i = 0; i < system.instances.size(); ++i) {
    Start start{system.instances[i].type, system.instances[i].marking, {}};
    std::sort(start.elements.begin(), start.elements.end());
    for (std::size_t x = 0; x < start.elements.size(); ++x)
      for (std::size_t y = x + 1; y < start.elements.size(); ++y)
        start.together.push_back({start.elements[x], start.elements[y]});
    u32 at = number(std::move(start));
    for (const Rules::Push& p : rules.pushes(i))
      if (at != kNone) at = after(at, p.behaviour);
    safe_.push_back(at != kNone);
  }
}

u32 OneSafe::number(Start start) {
  auto [it, fresh] = numbers_.emplace(start, static_cast<u32>(starts_.size()));
  if (fresh) starts_.push_back(std::move(start));
  return it->second;
}

u32 OneSafe::after(u32 start, u32 behaviour) {
  auto [it, fresh] = after_.emplace(std::pair{start, behaviour}, kNone);
  if (!fresh) return it->second;
  Start next = starts_[start];
  if (Concurrency(*rules_.system().types[next.type], behaviour).follow(next.elements, next.together))
    it->second = number(std::move(next));
  return it->second;
}

}  // namespace tutti::engine
