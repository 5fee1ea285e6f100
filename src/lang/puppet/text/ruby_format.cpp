#include "lang/puppet/text/ruby_format.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/utf8.h"

namespace tutti::puppet {

std::string ruby_float(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";
  char buffer[64];
  auto [end, bad] = std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value), std::chars_format::scientific);
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  std::size_t e = text.find('e');
  int exponent = 0;
  std::string_view power = text.substr(e + 1);
  if (power[0] == '+') power.remove_prefix(1);
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  std::string out = value < 0 ? "-" : "";
  if (exponent < -4 || exponent >= 15) {
    out += digits[0];
    out += '.';
    out += digits.size() > 1 ? std::string_view(digits).substr(1) : "0";
    return out + fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  std::size_t whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return out + digits + std::string(whole - digits.size(), '0') + ".0";
  return out + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::optional<FormatDirective> parse_directive(std::string_view format, std::size_t& at) {
  FormatDirective d;
  auto number = [&] {
    int n = 0;
    while (at < format.size() && format[at] >= '0' && format[at] <= '9' && n < 100'000'000)
      n = n * 10 + (format[at++] - '0');
    return n;
  };
  for (; at < format.size(); at++) {
    char c = format[at];
    switch (c) {
      case '-': d.left = true; continue;
      case '+': d.plus = true; continue;
      case '0': d.zero = true; continue;
      case ' ': d.space = true; continue;
      case '#': d.alternate = true; continue;
      case '*': d.width_from_argument = true; continue;
      case '<':
      case '{': {
        std::size_t end = format.find(c == '<' ? '>' : '}', at);
        if (end == std::string_view::npos) return std::nullopt;
        d.name = format.substr(at + 1, end - at - 1);
        at = end;
        if (c == '{') {
          d.braced = true;
          d.conversion = 's';
          at++;
          return d;
        }
        continue;
      }
      case '.':
        at++;
        if (at < format.size() && format[at] == '*') {
          d.precision_from_argument = true;
        } else {
          d.precision = number();
          at--;
        }
        continue;
      default:
        if (c >= '1' && c <= '9') {
          int n = number();
          if (at < format.size() && format[at] == '$') {
            d.position = n;
          } else {
            d.width = n;
            at--;
          }
          continue;
        }
        d.conversion = c;
        at++;
        return d;
    }
  }
  return std::nullopt;
}

std::string padded(const FormatDirective& d, std::string text) {
  std::size_t have = utf8::length(text), want = d.width ? static_cast<std::size_t>(std::abs(*d.width)) : 0;
  if (have >= want) return text;
  bool left = d.left || (d.width && *d.width < 0);
  return left ? text + std::string(want - have, ' ') : std::string(want - have, ' ') + text;
}

std::string format_text(const FormatDirective& d, std::string_view value) {
  if (d.precision) {
    std::size_t at = 0;
    for (int i = 0; i < *d.precision && at < value.size(); i++) utf8::decode(value, at);
    value = value.substr(0, at);
  }
  return padded(d, std::string(value));
}

namespace {

std::string in_base(u64 value, unsigned base, bool upper) {
  std::string out;
  do {
    unsigned digit = static_cast<unsigned>(value % base);
    out.insert(out.begin(), static_cast<char>(digit < 10 ? '0' + digit : (upper ? 'A' : 'a') + digit - 10));
    value /= base;
  } while (value != 0);
  return out;
}

// Two's complement with endless leading ones, cut after the first: -255 in hexadecimal is ..f01.
std::string complement(i64 value, unsigned bits, bool upper) {
  std::string out;
  unsigned base = 1u << bits;
  while (value != -1) {
    unsigned digit = static_cast<unsigned>(value & static_cast<i64>(base - 1));
    out.insert(out.begin(), static_cast<char>(digit < 10 ? '0' + digit : (upper ? 'A' : 'a') + digit - 10));
    value >>= bits;
  }
  char top = in_base(base - 1, base, upper)[0];
  if (out.empty() || out[0] != top) out.insert(out.begin(), top);
  return out;
}

}  // namespace

std::string format_integer(const FormatDirective& d, i64 value) {
  unsigned bits = 0;
  bool upper = false;
  std::string_view prefix;
  switch (d.conversion) {
    case 'b': bits = 1, prefix = "0b"; break;
    case 'B': bits = 1, prefix = "0B", upper = true; break;
    case 'o': bits = 3, prefix = "0"; break;
    case 'x': bits = 4, prefix = "0x"; break;
    case 'X': bits = 4, prefix = "0X", upper = true; break;
    case 'c': {
      std::string out;
      utf8::append(out, static_cast<char32_t>(value));
      return padded(d, out);
    }
    default: break;
  }
  bool signed_form = bits == 0 || d.plus || d.space;
  bool negative = value < 0;
  std::string digits, sign;
  bool dots = false;
  if (negative && !signed_form) {
    digits = complement(value, bits, upper);
    dots = true;
  } else {
    u64 magnitude = negative ? 0 - static_cast<u64>(value) : static_cast<u64>(value);
    digits = in_base(magnitude, bits == 0 ? 10 : 1u << bits, upper);
    sign = negative ? "-" : d.plus ? "+" : d.space ? " " : "";
  }
  std::string head = sign + std::string(d.alternate && bits > 0 && value != 0 && !(dots && bits == 3) ? prefix : "");
  char fill = dots ? in_base((1u << bits) - 1, 1u << bits, upper)[0] : '0';
  std::size_t want = 0;
  if (d.precision) {
    want = static_cast<std::size_t>(*d.precision);
  } else if (d.zero && !d.left && d.width) {
    std::size_t width = static_cast<std::size_t>(std::abs(*d.width));
    want = width > head.size() ? width - head.size() : 0;
  }
  if (dots) want = want > 2 ? want - 2 : 0;
  if (digits.size() < want) digits.insert(0, want - digits.size(), fill);
  if (dots) digits.insert(0, "..");
  return padded(d, head + digits);
}

std::string format_huge(const FormatDirective& d, double value) {
  return format_text(d, (value < 0 ? "" : d.plus ? "+" : d.space ? " " : "") + fmt::format("{:.0f}", value));
}

namespace {

// Ruby rounds by arithmetic with floating point as long as the digits are few, and takes what is as near to the middle
// between two texts as its error for the middle itself, which goes to the even digit: 2.675 is 2.68 and 2.345 is 2.34.
// Then this is the number that C would round to the same text; otherwise the number as it is.
double as_ruby_rounds(double value, char conversion, int precision) {
  constexpr int kMostDigits = 14;
  double d = std::fabs(value);
  if (d < 1e-15 || d >= 1e15) return value;
  int k = static_cast<int>(std::floor(std::log10(d)));
  if (std::pow(10.0, k) > d) k--;
  int digits = conversion == 'f'                        ? precision + k + 1
               : conversion == 'e' || conversion == 'E' ? precision + 1
                                                        : precision;
  if (digits < 1 || digits > kMostDigits) return value;
  d = k > 0 ? d / std::pow(10.0, k) : d * std::pow(10.0, -k);
  double error = std::ldexp(2 * d + 7, -52) * std::pow(10.0, digits - 1);
  std::string text;
  for (int i = 1;; i++, d *= 10) {
    int digit = static_cast<int>(d);
    d -= digit;
    text += static_cast<char>('0' + digit);
    if (d == 0 && i < digits) return value;
    if (i == digits) break;
  }
  if (d == 0 || d > 0.5 + error || d < 0.5 - error) return value;
  // A little more or less than the middle.
  text += (text.back() - '0') % 2 != 0 ? "9" : "1";
  text.insert(1, ".");
  double rounded = std::strtod(fmt::format("{}e{}", text, k).c_str(), nullptr);
  return value < 0 ? -rounded : rounded;
}

}  // namespace

std::string format_real(const FormatDirective& d, double value) {
  if (!std::isfinite(value)) {
    std::string text = std::isnan(value) ? "NaN" : "Inf";
    return padded(d, (value < 0 ? "-" : d.plus ? "+" : d.space ? " " : "") + text);
  }
  std::string spec = "%";
  if (d.left) spec += '-';
  if (d.plus) spec += '+';
  if (d.zero) spec += '0';
  if (d.space) spec += ' ';
  if (d.alternate) spec += '#';
  spec += "*.*";
  spec += d.conversion;
  int width = std::min(d.width.value_or(0), 100'000), precision = std::min(d.precision.value_or(-1), 100'000);
  value = as_ruby_rounds(value, d.conversion, precision < 0 ? 6 : precision);
  int size = std::snprintf(nullptr, 0, spec.c_str(), width, precision, value);
  std::string out(static_cast<std::size_t>(std::max(size, 0)) + 1, '\0');
  std::snprintf(out.data(), out.size(), spec.c_str(), width, precision, value);
  out.pop_back();
  return out;
}

}  // namespace tutti::puppet
