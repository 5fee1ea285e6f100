#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::puppet {

std::string slurp(const std::string& path);  // "" when it cannot be read
std::string_view trimmed(std::string_view text);
std::vector<std::string> names_in(const std::string& folder);  // sorted; none when there is no such folder
std::string human_bytes(double bytes);  // 25274793984 -> "23.54 GiB": the largest unit that leaves at least one whole

template <class F>
void each_line(std::string_view text, F&& f) {
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    f(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}  // namespace tutti::puppet
