#include "tree/diff.h"

#include <algorithm>
#include <string>

#include "base/sequence.h"

namespace tutti {
namespace {

class Differ {
 public:
  explicit Differ(bool ordered) : ordered_(ordered) {}

  void values(const Value& a, const Value& b) {
    if (a.kind() == b.kind() && a.is(Kind::kMap)) {
      if (!a.same_body(b)) maps(a, b);
    } else if (a.kind() == b.kind() && a.is(Kind::kList)) {
      if (!a.same_body(b)) lists(a, b);
    } else if (!equal(a, b)) {
      report(Change::kChanged, &a, &b);
    }
  }

  std::vector<Difference> take() { return std::move(found_); }

 private:
  void report(Change change, const Value* a, const Value* b) { found_.push_back({change, path_, a, b}); }

  template <class Step, class F>
  void at(Step step, F f) {
    path_.push(step);
    f();
    path_.pop();
  }

  // Removed keys are reported where they stood among the keys that stay.
  void maps(const Value& a, const Value& b) {
    std::size_t from = 0;
    auto removed_up_to = [&](std::size_t to) {
      for (; from < to; from++) {
        const Entry& e = a.entries()[from];
        if (b.find(e.key) == nullptr) at(e.key, [&] { report(Change::kRemoved, &e.value, nullptr); });
      }
    };
    bool moved = false;
    std::size_t furthest = 0;
    for (const Entry& e : b.entries()) {
      const Entry* old = a.find(e.key);
      if (old == nullptr) {
        at(e.key, [&] { report(Change::kAdded, nullptr, &e.value); });
        continue;
      }
      std::size_t stood = static_cast<std::size_t>(old - a.entries().data());
      moved |= stood < furthest;
      furthest = std::max(furthest, stood);
      removed_up_to(std::max(from, stood));
      at(e.key, [&] { values(old->value, e.value); });
    }
    removed_up_to(a.size());
    if (moved && ordered_) report(Change::kReordered, &a, &b);
  }

  void lists(const Value& a, const Value& b) {
    std::vector<u64> x, y;
    for (const Value& v : a.items()) x.push_back(hash(v));
    for (const Value& v : b.items()) y.push_back(hash(v));
    auto steps = sequence_diff(x.size(), y.size(), [&](std::size_t i, std::size_t j) {
      return x[i] == y[j] && equal(a.items()[i], b.items()[j], ordered_);
    });
    for (std::size_t i = 0; i < steps.size();) {
      if (steps[i].what == SequenceStep::What::kBoth) {
        i++;
        continue;
      }
      // Between two common parts: what was removed and what was added, first with first.
      std::vector<std::size_t> removed, added;
      for (; i < steps.size() && steps[i].what != SequenceStep::What::kBoth; i++) {
        if (steps[i].what == SequenceStep::What::kRemoved) {
          removed.push_back(steps[i].before);
        } else {
          added.push_back(steps[i].after);
        }
      }
      for (std::size_t k = 0; k < std::max(removed.size(), added.size()); k++) {
        if (k < removed.size() && k < added.size()) {
          at(static_cast<u32>(added[k]), [&] { values(a.items()[removed[k]], b.items()[added[k]]); });
        } else if (k < removed.size()) {
          at(static_cast<u32>(removed[k]), [&] { report(Change::kRemoved, &a.items()[removed[k]], nullptr); });
        } else {
          at(static_cast<u32>(added[k]), [&] { report(Change::kAdded, nullptr, &b.items()[added[k]]); });
        }
      }
    }
  }

  bool ordered_;
  Path path_;
  std::vector<Difference> found_;
};

}  // namespace

std::vector<Difference> diff(const Value& before, const Value& after, bool ordered) {
  Differ differ(ordered);
  differ.values(before, after);
  return differ.take();
}

}  // namespace tutti
