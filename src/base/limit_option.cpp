#include "base/limit_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tutti {

bool set_limit(Limits& limits, std::string_view text, std::string& wrong) {
  std::size_t equals = text.find('=');
  std::string_view name = text.substr(0, equals);
  u64 n = 0, scale = 1;
  std::string_view number = equals == std::string_view::npos ? std::string_view{} : text.substr(equals + 1);
  if (!number.empty()) {
    switch (number.back()) {
      case 'k': scale = 1'000; break;
      case 'M': scale = 1'000'000; break;
      case 'G': scale = 1'000'000'000; break;
    }
    if (scale > 1) number.remove_suffix(1);
  }
  auto [end, bad] = std::from_chars(number.data(), number.data() + number.size(), n);
  if (number.empty() || bad != std::errc{} || end != number.data() + number.size() || n > UINT64_MAX / scale) {
    wrong = fmt::format("--limit wants NAME=N, such as depth=1000, not `{}`", text);
    return false;
  }
  n *= scale;
  if (name == "input") {
    limits.input_bytes = n;
  } else if (name == "nodes") {
    limits.nodes = n;
  } else if (name == "steps") {
    limits.steps = n;
  } else if (name == "memory") {
    limits.memory = n;
  } else if (name == "depth") {
    limits.depth = static_cast<u32>(std::min<u64>(n, 1'000'000));
  } else if (name == "errors") {
    limits.errors = static_cast<u32>(std::min<u64>(n, UINT32_MAX));
  } else if (name == "time") {
    limits.time = std::chrono::milliseconds(std::min<u64>(n, u64{1} << 50));
  } else {
    wrong = fmt::format("there is no limit `{}`: input, nodes, steps, memory, depth, errors and time are", name);
    return false;
  }
  return true;
}

}  // namespace tutti
