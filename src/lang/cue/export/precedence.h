#pragma once

#include <algorithm>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/cue/eval/label.h"

namespace tutti::cue {

// Which label comes before which, as numbers in order of first mention.
class Precedence {
 public:
  void clear() {
    if (labels_.empty()) return;
    labels_.clear();
    after_.clear();
    numbers_.clear();
  }
  u32 number(Label l) {
    auto [it, fresh] = numbers_.try_emplace(l.bits(), static_cast<u32>(labels_.size()));
    if (fresh) {
      labels_.push_back(l);
      after_.emplace_back();
    }
    return it->second;
  }
  void add(Label before, Label after) {
    u32 a = number(before), b = number(after);
    if (a != b) after_[a].push_back(b);
  }

  // Labels on a cycle come together, by name.
  std::vector<Label> sorted() const {
    std::vector<u32> alone(labels_.size());
    for (u32 i = 0; i < alone.size(); ++i) alone[i] = i;
    std::vector<Label> out = in_order(alone);
    return out.size() == labels_.size() ? out : in_order(components());
  }

 private:
  // Of the groups that nothing must precede any more, always the one with the smallest name. Labels on a cycle of
  // groups are left out.
  std::vector<Label> in_order(const std::vector<u32>& group) const {
    u32 n = static_cast<u32>(labels_.size());
    struct Group {
      std::vector<std::pair<std::string, u32>> members;
      u32 waiting = 0;
    };
    std::vector<Group> groups(n);
    for (u32 i = 0; i < n; ++i) groups[group[i]].members.push_back({labels_[i].plain(), i});
    std::vector<std::string> smallest(n);
    for (u32 g = 0; g < n; ++g) {
      auto& m = groups[g].members;
      if (m.empty()) continue;
      std::sort(m.begin(), m.end());
      smallest[g] = m[0].first;
    }
    for (u32 i = 0; i < n; ++i)
      for (u32 j : after_[i])
        if (group[i] != group[j]) ++groups[group[j]].waiting;
    auto later = [&](u32 a, u32 b) { return smallest[a] > smallest[b]; };
    std::priority_queue<u32, std::vector<u32>, decltype(later)> ready(later);
    for (u32 g = 0; g < n; ++g)
      if (!groups[g].members.empty() && groups[g].waiting == 0) ready.push(g);
    std::vector<Label> out;
    while (!ready.empty()) {
      u32 g = ready.top();
      ready.pop();
      for (const auto& [name, i] : groups[g].members) {
        out.push_back(labels_[i]);
        for (u32 j : after_[i])
          if (group[j] != g && --groups[group[j]].waiting == 0) ready.push(group[j]);
      }
    }
    return out;
  }

  // For each label the number of one label of its strongly connected component: two walks without recursion, the
  // second against the edges in the order in which the first one left the labels.
  std::vector<u32> components() const {
    u32 n = static_cast<u32>(labels_.size());
    std::vector<std::vector<u32>> before(n);
    for (u32 i = 0; i < n; ++i)
      for (u32 j : after_[i]) before[j].push_back(i);
    std::vector<u32> left;
    std::vector<char> seen(n, 0);
    std::vector<std::pair<u32, std::size_t>> path;
    for (u32 i = 0; i < n; ++i) {
      if (seen[i]) continue;
      seen[i] = 1;
      path.push_back({i, 0});
      while (!path.empty()) {
        auto& [at, next] = path.back();
        if (next == after_[at].size()) {
          left.push_back(at);
          path.pop_back();
          continue;
        }
        u32 to = after_[at][next++];
        if (seen[to]) continue;
        seen[to] = 1;
        path.push_back({to, 0});
      }
    }
    constexpr u32 kNone = ~u32{0};
    std::vector<u32> group(n, kNone), work;
    for (std::size_t k = left.size(); k-- > 0;) {
      if (group[left[k]] != kNone) continue;
      group[left[k]] = left[k];
      work.push_back(left[k]);
      while (!work.empty()) {
        u32 at = work.back();
        work.pop_back();
        for (u32 from : before[at])
          if (group[from] == kNone) {
            group[from] = left[k];
            work.push_back(from);
          }
      }
    }
    return group;
  }

  std::vector<Label> labels_;
  std::vector<std::vector<u32>> after_;
  std::unordered_map<u32, u32> numbers_;
};

}  // namespace tutti::cue
