#include "base/sequence.h"

#include <algorithm>

namespace tutti {
namespace {

using What = SequenceStep::What;
using Equal = std::function<bool(std::size_t, std::size_t)>;

std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

// The steps between a common head and a common tail, last first.
class Middle {
 public:
  Middle(std::size_t head, i64 n, i64 m, const Equal& equal) : head_(head), n_(n), m_(m), equal_(equal) {}

  std::vector<SequenceStep> steps() {
    i64 found = search();
    if (found < 0) return whole();
    i64 x = n_, y = m_;
    for (i64 d = found; d > 0; d--) {
      const std::vector<i64>& row = trace_[at(d)];
      auto reached = [&](i64 k) { return row[at(k + d)]; };
      i64 k = x - y;
      i64 back = k == -d || (k != d && reached(k - 1) < reached(k + 1)) ? k + 1 : k - 1;
      i64 from_x = reached(back), from_y = from_x - back;
      while (x > from_x && y > from_y) add(What::kBoth, --x, --y);
      if (x == from_x) {
        add(What::kAdded, x, --y);
      } else {
        add(What::kRemoved, --x, y);
      }
    }
    while (x > 0 && y > 0) add(What::kBoth, --x, --y);
    return std::move(steps_);
  }

 private:
  // The number of edits, or -1 when there are too many. trace_[d] is how far each diagonal was before round d.
  i64 search() {
    i64 most = std::min<i64>(n_ + m_, kMostEdits);
    std::vector<i64> furthest(at(2 * most + 3), 0);
    auto on = [&](i64 k) -> i64& { return furthest[at(k + most + 1)]; };
    for (i64 d = 0; d <= most; d++) {
      trace_.emplace_back(&on(-d), &on(d) + 1);
      for (i64 k = -d; k <= d; k += 2) {
        i64 x = k == -d || (k != d && on(k - 1) < on(k + 1)) ? on(k + 1) : on(k - 1) + 1;
        while (x < n_ && x - k < m_ && equal_(head_ + at(x), head_ + at(x - k))) x++;
        on(k) = x;
        if (x >= n_ && x - k >= m_) return d;
      }
    }
    return -1;
  }

  std::vector<SequenceStep> whole() {
    for (i64 i = m_; i-- > 0;) add(What::kAdded, n_, i);
    for (i64 i = n_; i-- > 0;) add(What::kRemoved, i, 0);
    return std::move(steps_);
  }

  void add(What what, i64 x, i64 y) { steps_.push_back({what, head_ + at(x), head_ + at(y)}); }

  static constexpr i64 kMostEdits = 2000;
  std::size_t head_;
  i64 n_, m_;
  const Equal& equal_;
  std::vector<std::vector<i64>> trace_;
  std::vector<SequenceStep> steps_;
};

}  // namespace

std::vector<SequenceStep> sequence_diff(std::size_t n, std::size_t m, const Equal& equal) {
  std::size_t head = 0, tail = 0;
  while (head < n && head < m && equal(head, head)) head++;
  while (tail < n - head && tail < m - head && equal(n - 1 - tail, m - 1 - tail)) tail++;
  std::vector<SequenceStep> middle =
      Middle(head, static_cast<i64>(n - head - tail), static_cast<i64>(m - head - tail), equal).steps();
  std::vector<SequenceStep> all;
  all.reserve(head + middle.size() + tail);
  for (std::size_t i = 0; i < head; i++) all.push_back({What::kBoth, i, i});
  all.insert(all.end(), middle.rbegin(), middle.rend());
  for (std::size_t i = tail; i > 0; i--) all.push_back({What::kBoth, n - i, m - i});
  return all;
}

}  // namespace tutti
