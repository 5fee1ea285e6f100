// Durations as text: 1h2m3.5s.
#include <fmt/format.h>

#include "lang/cue/builtin/support.h"
#include "lang/cue/builtin/timestamp.h"

namespace tutti::cue {

namespace {

struct DurationUnit {
  std::string_view name;
  i64 nanoseconds;
};
constexpr DurationUnit kUnits[] = {
    {"ns", 1},         {"us", 1'000},        {"µs", 1'000},         {"μs", 1'000},
    {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000},
};

// n divided by unit, without zeros at the end.
std::string decimal(u64 n, u64 unit) {
  std::string out = std::to_string(n / unit);
  std::string fraction;
  for (u64 rest = n % unit, place = unit / 10; rest > 0; rest %= place, place /= 10) {
    fraction += static_cast<char>('0' + rest / place);
    if (place == 1) break;
  }
  return fraction.empty() ? out : out + "." + fraction;
}

}  // namespace

std::string format_duration(i64 nanoseconds) {
  u64 n = nanoseconds < 0 ? u64{0} - static_cast<u64>(nanoseconds) : static_cast<u64>(nanoseconds);
  std::string out = nanoseconds < 0 ? "-" : "";
  if (n == 0) return "0s";
  if (n < 1'000) return out + decimal(n, 1) + "ns";
  if (n < 1'000'000) return out + decimal(n, 1'000) + "µs";
  if (n < 1'000'000'000) return out + decimal(n, 1'000'000) + "ms";
  constexpr u64 kMinute = 60'000'000'000;
  u64 minutes = n / kMinute;
  if (minutes >= 60) out += fmt::format("{}h", minutes / 60);
  if (minutes > 0) out += fmt::format("{}m", minutes % 60);
  return out + decimal(n % kMinute, 1'000'000'000) + "s";
}

std::optional<i64> parse_duration(std::string_view text, std::string& error) {
  auto bad = [&](const std::string& what) {
    error = "time: " + what + go_quote(text);
    return std::nullopt;
  };
  std::string_view s = text;
  bool negative = s.starts_with('-');
  if (negative || s.starts_with('+')) s.remove_prefix(1);
  if (s == "0") return 0;
  if (s.empty()) return bad("invalid duration ");
  // Exact in 128 bits: each part has at most 18 digits that count before and after the point.
  __int128 total = 0;
  const __int128 most = (static_cast<__int128>(1) << 63) - (negative ? 0 : 1);
  while (!s.empty()) {
    __int128 whole = 0, fraction = 0, scale = 1;
    bool any = false, point = false;
    std::size_t i = 0;
    for (; i < s.size(); ++i) {
      if (s[i] == '.' && !point) {
        point = true;
      } else if (s[i] >= '0' && s[i] <= '9') {
        any = true;
        if (!point) {
          whole = whole * 10 + (s[i] - '0');
          if (whole > most) return bad("invalid duration ");
        } else if (scale < 1'000'000'000'000'000'000) {
          fraction = fraction * 10 + (s[i] - '0');
          scale *= 10;
        }
      } else {
        break;
      }
    }
    if (!any) return bad("invalid duration ");
    s.remove_prefix(i);
    std::size_t end = std::min(s.find_first_of(".0123456789"), s.size());
    if (end == 0) return bad("missing unit in duration ");
    i64 unit = 0;
    for (const DurationUnit& u : kUnits)
      if (u.name == s.substr(0, end)) unit = u.nanoseconds;
    if (unit == 0) return bad("unknown unit " + go_quote(s.substr(0, end)) + " in duration ");
    total += whole * unit + fraction * unit / scale;
    if (total > most) return bad("invalid duration ");
    s.remove_prefix(end);
  }
  return static_cast<i64>(negative ? -total : total);
}

}  // namespace tutti::cue
