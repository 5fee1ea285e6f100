#include "lang/smartfrog/syntax/java_number.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace tutti::smartfrog {
namespace {

template <class T>
T parse(std::string_view text) {
  bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  T value = 0;
  auto [end, err] = std::from_chars(text.data(), text.data() + text.size(), value);
  (void)end;
  if (err == std::errc::result_out_of_range) {
    // Too large or too small: the exponent tells which.
    std::size_t e = text.find_first_of("eE");
    bool tiny = e != std::string_view::npos && e + 1 < text.size() && text[e + 1] == '-';
    value = tiny ? T(0) : std::numeric_limits<T>::infinity();
  }
  return negative ? -value : value;
}

// Shortest digits that read back as the same number, laid out as Java's toString: plain from 10^-3 up to 10^7.
template <class T>
std::string text_of(T v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v < 0 ? "-Infinity" : "Infinity";
  if (v == 0) return std::signbit(v) ? "-0.0" : "0.0";
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, std::fabs(v), std::chars_format::scientific).ptr;
  std::string_view s(buffer, static_cast<std::size_t>(end - buffer));
  std::size_t e = s.find('e');
  int exponent = 0;
  std::string_view power = s.substr(e + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  std::string digits;
  for (char c : s.substr(0, e))
    if (c != '.') digits += c;
  std::string out = v < 0 ? "-" : "";
  int n = static_cast<int>(digits.size());
  if (exponent >= 7 || exponent < -3) {
    out += digits[0];
    out += '.';
    out += n > 1 ? digits.substr(1) : "0";
    return out + fmt::format("E{}", exponent);
  }
  if (exponent < 0) return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  if (n <= exponent + 1) return out + digits + std::string(static_cast<std::size_t>(exponent + 1 - n), '0') + ".0";
  return out + digits.substr(0, static_cast<std::size_t>(exponent) + 1) + "." +
         digits.substr(static_cast<std::size_t>(exponent) + 1);
}

Value number(const std::string& text, std::string_view type, bool finite, Arena& arena) {
  std::string_view kept = arena.copy(std::string_view(text));
  Value v = finite ? Value::number(kept) : Value::string(kept);
  return v.with_tag(Symbol(type));
}

}  // namespace

float java_parse_float(std::string_view text) { return parse<float>(text); }
double java_parse_double(std::string_view text) { return parse<double>(text); }
std::string java_text(float f) { return text_of(f); }
std::string java_text(double d) { return text_of(d); }
Value java_float(float f, Arena& arena) { return number(java_text(f), "FLOAT", std::isfinite(f), arena); }
Value java_double(double d, Arena& arena) { return number(java_text(d), "DOUBLE", std::isfinite(d), arena); }

}  // namespace tutti::smartfrog
