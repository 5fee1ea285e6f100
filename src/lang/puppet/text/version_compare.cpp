#include "lang/puppet/text/version_compare.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"

namespace tutti::puppet {
namespace {

enum class Chunk { kEnd, kDash, kDot, kDigits, kOther };

Chunk next_chunk(std::string_view& rest, std::string_view& chunk) {
  if (rest.empty()) return Chunk::kEnd;
  std::size_t n = 1;
  Chunk what = rest[0] == '-'      ? Chunk::kDash
               : rest[0] == '.'    ? Chunk::kDot
               : is_digit(rest[0]) ? Chunk::kDigits
                                   : Chunk::kOther;
  if (what == Chunk::kDigits) {
    while (n < rest.size() && is_digit(rest[n])) n++;
  } else if (what == Chunk::kOther) {
    while (n < rest.size() && rest[n] != '-' && rest[n] != '.' && !is_digit(rest[n])) n++;
  }
  chunk = rest.substr(0, n);
  rest.remove_prefix(n);
  return what;
}

int order(std::string_view a, std::string_view b) { return a < b ? -1 : a > b ? 1 : 0; }

std::string upper(std::string_view s) {
  std::string out(s);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

// Numbers of any length; a leading zero makes both compare as text ("1.05" is below "1.1" that way).
int order_digits(std::string_view a, std::string_view b) {
  if (a[0] == '0' || b[0] == '0' || a.size() == b.size()) return order(a, b);
  return a.size() < b.size() ? -1 : 1;
}

// Dots and zeros before the first dash do not count.
std::string without_trailing_zeros(std::string_view version) {
  std::size_t dash = version.find('-');
  std::string_view first = version.substr(0, dash);
  std::size_t last = first.find_last_not_of(".0");
  std::string out(first.substr(0, last == std::string_view::npos ? 0 : last + 1));
  if (dash != std::string_view::npos) out += version.substr(dash);
  return out;
}

}  // namespace

int compare_versions(std::string_view a, std::string_view b, bool ignore_trailing_zeros) {
  std::string plain_a, plain_b;
  if (ignore_trailing_zeros) {
    a = plain_a = without_trailing_zeros(a);
    b = plain_b = without_trailing_zeros(b);
  }
  std::string_view rest_a = a, rest_b = b, x, y;
  for (;;) {
    Chunk ka = next_chunk(rest_a, x), kb = next_chunk(rest_b, y);
    if (ka == Chunk::kEnd || kb == Chunk::kEnd) break;
    if (x == y) continue;
    for (Chunk low : {Chunk::kDash, Chunk::kDot}) {
      if (ka == low) return -1;
      if (kb == low) return 1;
    }
    if (ka == Chunk::kDigits && kb == Chunk::kDigits) return order_digits(x, y);
    return order(upper(x), upper(y));
  }
  return order(a, b);
}

}  // namespace tutti::puppet
