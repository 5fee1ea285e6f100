#include "text/edit.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/sequence.h"

namespace tutti {

std::string apply_edits(std::string_view text, std::vector<TextEdit> edits) {
  std::stable_sort(edits.begin(), edits.end(), [](const TextEdit& a, const TextEdit& b) { return a.from < b.from; });
  std::string out;
  std::size_t at = 0;
  for (const TextEdit& e : edits) {
    out.append(text.substr(at, e.from - at));
    out += e.text;
    at = e.to;
  }
  out.append(text.substr(at));
  return out;
}

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    end = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_name,
                         std::string_view after_name) {
  if (before == after) return {};
  constexpr std::size_t kContext = 3;
  std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  using What = SequenceStep::What;
  std::vector<SequenceStep> steps =
      sequence_diff(a.size(), b.size(), [&](std::size_t i, std::size_t j) { return a[i] == b[j]; });
  std::string out = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
  for (std::size_t i = 0; i < steps.size();) {
    if (steps[i].what == What::kBoth) {
      i++;
      continue;
    }
    std::size_t from = i > kContext ? i - kContext : 0, to = i, quiet = 0;
    for (std::size_t j = i; j < steps.size() && quiet < 2 * kContext; j++) {
      quiet = steps[j].what == What::kBoth ? quiet + 1 : 0;
      if (quiet == 0) to = j + 1;
    }
    std::size_t end = std::min(steps.size(), to + kContext), in_a = 0, in_b = 0;
    for (std::size_t j = from; j < end; j++) {
      if (steps[j].what != What::kAdded) in_a++;
      if (steps[j].what != What::kRemoved) in_b++;
    }
    out += fmt::format("@@ -{},{} +{},{} @@\n", steps[from].before + (in_a > 0 ? 1 : 0), in_a,
                       steps[from].after + (in_b > 0 ? 1 : 0), in_b);
    for (std::size_t j = from; j < end; j++) {
      std::string_view line = steps[j].what == What::kAdded ? b[steps[j].after] : a[steps[j].before];
      out += steps[j].what == What::kBoth ? ' ' : steps[j].what == What::kAdded ? '+' : '-';
      out += line;
      if (line.empty() || line.back() != '\n') out += "\n\\ No newline at end of file\n";
    }
    i = end;
  }
  return out;
}

}  // namespace tutti
