#include "text/edit.h"

#include <fmt/format.h>

#include <algorithm>

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

struct Step {
  char what;  // ' ' both, '-' only before, '+' only after
  std::size_t a, b;
};

// Myers' greedy algorithm on what is left between a common head and tail. The trace is bounded: two texts that have
// next to nothing in common are shown as removed and added whole.
std::vector<Step> script(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) head++;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) tail++;
  long n = static_cast<long>(a.size() - head - tail), m = static_cast<long>(b.size() - head - tail);
  long most = std::min<long>(n + m, 4000);
  std::vector<std::vector<long>> trace;
  std::vector<long> v(static_cast<std::size_t>(2 * most + 2), 0);
  long found = -1;
  for (long d = 0; d <= most && found < 0; d++) {
    trace.push_back({v.begin() + (most - d), v.begin() + (most + d + 2)});
    for (long k = -d; k <= d; k += 2) {
      auto at = [&](long i) -> long& { return v[static_cast<std::size_t>(i + most)]; };
      long x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && a[head + static_cast<std::size_t>(x)] == b[head + static_cast<std::size_t>(x - k)])
        x++;
      at(k) = x;
      if (x >= n && x - k >= m) {
        found = d;
        break;
      }
    }
  }
  std::vector<Step> middle;
  if (found < 0) {
    for (long i = m; i-- > 0;)
      middle.push_back({'+', head + static_cast<std::size_t>(n), head + static_cast<std::size_t>(i)});
    for (long i = n; i-- > 0;) middle.push_back({'-', head + static_cast<std::size_t>(i), head});
  } else {
    long x = n, y = m;
    for (long d = found; d >= 0; d--) {
      const std::vector<long>& row = trace[static_cast<std::size_t>(d)];
      auto at = [&](long i) { return row[static_cast<std::size_t>(i + d)]; };
      long k = x - y;
      long back = d == 0 ? 0 : (k == -d || (k != d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1);
      long from_x = d == 0 ? 0 : at(back), from_y = d == 0 ? 0 : from_x - back;
      while (x > from_x && y > from_y) {
        x--, y--;
        middle.push_back({' ', head + static_cast<std::size_t>(x), head + static_cast<std::size_t>(y)});
      }
      if (d == 0) break;
      if (x == from_x) {
        y--;
        middle.push_back({'+', head + static_cast<std::size_t>(x), head + static_cast<std::size_t>(y)});
      } else {
        x--;
        middle.push_back({'-', head + static_cast<std::size_t>(x), head + static_cast<std::size_t>(y)});
      }
    }
  }
  std::vector<Step> all;
  for (std::size_t i = 0; i < head; i++) all.push_back({' ', i, i});
  all.insert(all.end(), middle.rbegin(), middle.rend());
  for (std::size_t i = 0; i < tail; i++) all.push_back({' ', a.size() - tail + i, b.size() - tail + i});
  return all;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_name,
                         std::string_view after_name) {
  if (before == after) return {};
  constexpr std::size_t kContext = 3;
  std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  std::vector<Step> steps = script(a, b);
  std::string out = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
  for (std::size_t i = 0; i < steps.size();) {
    if (steps[i].what == ' ') {
      i++;
      continue;
    }
    std::size_t from = i > kContext ? i - kContext : 0, to = i, quiet = 0;
    for (std::size_t j = i; j < steps.size() && quiet <= 2 * kContext; j++) {
      quiet = steps[j].what == ' ' ? quiet + 1 : 0;
      if (quiet == 0) to = j + 1;
    }
    std::size_t end = std::min(steps.size(), to + kContext), in_a = 0, in_b = 0;
    for (std::size_t j = from; j < end; j++) {
      if (steps[j].what != '+') in_a++;
      if (steps[j].what != '-') in_b++;
    }
    out += fmt::format("@@ -{},{} +{},{} @@\n", steps[from].a + (in_a > 0 ? 1 : 0), in_a,
                       steps[from].b + (in_b > 0 ? 1 : 0), in_b);
    for (std::size_t j = from; j < end; j++) {
      std::string_view line = steps[j].what == '+' ? b[steps[j].b] : a[steps[j].a];
      out += steps[j].what;
      out += line;
      if (line.empty() || line.back() != '\n') out += "\n\\ No newline at end of file\n";
    }
    i = end;
  }
  return out;
}

}  // namespace tutti
