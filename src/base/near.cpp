#include "base/near.h"

#include <algorithm>
#include <vector>

namespace tutti {
namespace {

// Optimal string alignment distance, given up as soon as it must exceed `most`.
std::size_t distance(std::string_view a, std::string_view b, std::size_t most) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > most) return most + 1;
  std::vector<std::size_t> before(a.size() + 1), last(a.size() + 1), row(a.size() + 1);
  for (std::size_t i = 0; i <= a.size(); i++) last[i] = i;
  for (std::size_t j = 1; j <= b.size(); j++) {
    row[0] = j;
    std::size_t least = j;
    for (std::size_t i = 1; i <= a.size(); i++) {
      row[i] = std::min({last[i] + 1, row[i - 1] + 1, last[i - 1] + (a[i - 1] != b[j - 1] ? 1 : 0)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[i] = std::min(row[i], before[i - 2] + 1);
      least = std::min(least, row[i]);
    }
    if (least > most) return most + 1;
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[a.size()];
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t most = std::max<std::size_t>(1, name.size() / 3);
  for (std::string_view candidate : candidates) {
    if (candidate.empty() || candidate == name) continue;
    std::size_t d = distance(name, candidate, most);
    if (d > most || (d == most && !best.empty())) continue;
    best = candidate;
    most = d;
  }
  return name.size() < 2 ? std::string_view{} : best;
}

Symbol nearest(Symbol name, std::span<const Symbol> candidates) {
  std::vector<std::string_view> texts;
  texts.reserve(candidates.size());
  for (Symbol s : candidates) texts.push_back(s.text());
  std::string_view best = nearest(name.text(), texts);
  return best.empty() ? Symbol{} : Symbol{best};
}

}  // namespace tutti
