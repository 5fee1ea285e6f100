#include <gmp.h>

#include <array>
#include <string>

#include "format/yaml.h"

namespace tutti {
namespace {

bool digits(std::string_view s) {
  if (s.empty()) return false;
  for (char c : s) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

// An integer in another base, of any size, as decimal digits.
std::string in_decimal(std::string_view text, int base) {
  mpz_t n;
  mpz_init(n);
  mpz_set_str(n, std::string(text).c_str(), base);
  char* s = mpz_get_str(nullptr, 10, n);
  std::string out = s;
  void (*release)(void*, std::size_t) = nullptr;
  mp_get_memory_functions(nullptr, nullptr, &release);
  release(s, out.size() + 1);
  mpz_clear(n);
  return out;
}

bool all_in(std::string_view s, std::string_view set) {
  return !s.empty() && s.find_first_not_of(set) == std::string_view::npos;
}

template <std::size_t N>
bool one_of(std::string_view s, const std::array<std::string_view, N>& words) {
  for (std::string_view w : words) {
    if (s == w) return true;
  }
  return false;
}

constexpr std::array<std::string_view, 3> kTrue = {"true", "True", "TRUE"}, kFalse = {"false", "False", "FALSE"};

// The longest text looked at as a number: a plain scalar of a gigabyte is no number anybody wrote.
constexpr std::size_t kLongestNumber = 1 << 20;

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?, written as the tree wants it; "" when it is none.
std::string number_text(std::string_view s) {
  bool negative = s.starts_with('-');
  if (negative || s.starts_with('+')) s.remove_prefix(1);
  std::size_t e = s.find_first_of("eE");
  std::string_view exponent = e == std::string_view::npos ? std::string_view{} : s.substr(e + 1);
  std::string_view mantissa = s.substr(0, e);
  std::size_t point = mantissa.find('.');
  std::string_view whole = mantissa.substr(0, point);
  std::string_view fraction = point == std::string_view::npos ? std::string_view{} : mantissa.substr(point + 1);
  if (whole.empty() && fraction.empty()) return {};
  if ((!whole.empty() && !digits(whole)) || (!fraction.empty() && !digits(fraction))) return {};
  if (e != std::string_view::npos) {
    std::string_view power = exponent;
    if (power.starts_with('-') || power.starts_with('+')) power.remove_prefix(1);
    if (!digits(power)) return {};
  }
  while (whole.size() > 1 && whole[0] == '0') whole.remove_prefix(1);
  std::string out = negative ? "-" : "";
  out += whole.empty() ? "0" : whole;
  if (point != std::string_view::npos) {
    out += '.';
    out += fraction.empty() ? "0" : fraction;
  }
  if (e != std::string_view::npos) {
    out += 'e';
    out += exponent;
  }
  return out;
}

std::optional<Value> core_number(std::string_view text, const TreeBuilder& builder, Origin origin) {
  if (text.starts_with("0x") && all_in(text.substr(2), "0123456789abcdefABCDEF")) {
    return builder.number(in_decimal(text.substr(2), 16), origin);
  }
  if (text.starts_with("0o") && all_in(text.substr(2), "01234567")) {
    return builder.number(in_decimal(text.substr(2), 8), origin);
  }
  std::string number = number_text(text);
  if (number.empty()) return std::nullopt;
  return number == text ? Value::number(text, origin) : builder.number(number, origin);
}

}  // namespace

std::optional<Value> yaml_plain(std::string_view text, const TreeBuilder& builder, Origin origin) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return Value::null(origin);
  char first = text[0];
  if (first == 't' || first == 'T' || first == 'f' || first == 'F') {
    if (one_of(text, kTrue)) return Value::boolean(true, origin);
    if (one_of(text, kFalse)) return Value::boolean(false, origin);
    return std::nullopt;
  }
  bool maybe_number = (first >= '0' && first <= '9') || first == '-' || first == '+' || first == '.';
  if (!maybe_number || text.size() > kLongestNumber) return std::nullopt;
  std::string_view unsigned_text = first == '-' || first == '+' ? text.substr(1) : text;
  if (unsigned_text == ".inf" || unsigned_text == ".Inf" || unsigned_text == ".INF" || text == ".nan" ||
      text == ".NaN" || text == ".NAN") {  // no number of the tree: a text in one spelling, and marked
    static const Symbol kFloat("float");
    bool nan = text[1] == 'n' || text[1] == 'N';
    return builder.string(nan ? ".nan" : first == '-' ? "-.inf" : ".inf", origin).with_tag(kFloat);
  }
  return core_number(text, builder, origin);
}

}  // namespace tutti
