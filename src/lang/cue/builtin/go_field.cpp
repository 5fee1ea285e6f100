#include "lang/cue/builtin/go_field.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "lang/cue/builtin/go_float.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace {

constexpr u64 kLastCharacter = 0x10FFFF;

std::string digits_of(u64 n, int base, bool upper) {
  std::string out;
  do {
    out += (upper ? "0123456789ABCDEF" : "0123456789abcdef")[n % static_cast<u64>(base)];
    n /= static_cast<u64>(base);
  } while (n != 0);
  return {out.rbegin(), out.rend()};
}

std::string character_text(u64 c) {
  std::string out;
  bool surrogate = c >= 0xD800 && c < 0xE000;
  utf8::append(out, c > kLastCharacter || surrogate ? 0xFFFD : static_cast<char32_t>(c));
  return out;
}

// Whether a text can stand between backquotes.
bool can_backquote(std::string_view s) {
  for (std::size_t i = 0; i < s.size();) {
    char32_t c = utf8::decode(s, i);
    if (c == utf8::kInvalid || c == 0xFEFF || c == '`' || c == 0x7F || (c < ' ' && c != '\t')) return false;
  }
  return true;
}

}  // namespace

void GoField::pad(std::string& out, i64 n, char with) const {
  if (n > 0) out.append(static_cast<std::size_t>(n), with);
}

void GoField::padded(std::string& out, std::string_view text) const {
  i64 missing = has_width ? width - static_cast<i64>(utf8::length(text)) : 0;
  if (!minus) pad(out, missing, filling());
  out += text;
  if (minus) pad(out, missing, filling());
}

void GoField::padded_with_spaces(std::string& out, std::string_view text) const {
  GoField f = *this;
  f.zero = false;
  f.padded(out, text);
}

void GoField::integer(std::string& out, Integer n, int base, char32_t verb) const {
  if (has_precision && precision == 0 && n.magnitude == 0) {
    if (has_width) pad(out, width, ' ');
    return;
  }
  std::string sign = n.negative ? "-" : plus ? "+" : space ? " " : "";
  i64 least = 0;
  if (has_precision)
    least = precision;
  else if (zero && !minus && has_width)
    least = width - static_cast<i64>(sign.size());
  std::string digits = digits_of(n.magnitude, base, verb == 'X');
  if (static_cast<i64>(digits.size()) < least) digits.insert(0, static_cast<std::size_t>(least) - digits.size(), '0');
  if (sharp && base == 2) digits.insert(0, "0b");
  if (sharp && base == 8 && digits[0] != '0') digits.insert(0, "0");
  if (sharp && base == 16) digits.insert(0, verb == 'X' ? "0X" : "0x");
  if (verb == 'O') digits.insert(0, "0o");
  padded_with_spaces(out, sign + digits);
}

void GoField::large(std::string& out, std::string digits, bool negative, char32_t verb) const {
  std::string sign = negative ? "-" : plus || plus_v ? "+" : space ? " " : "";
  std::string_view prefix;
  if (sharp || sharp_v) prefix = verb == 'b' ? "0b" : verb == 'o' ? "0" : verb == 'x' ? "0x" : verb == 'X' ? "0X" : "";
  if (verb == 'O') prefix = "0o";
  i64 zeros = has_precision ? precision - static_cast<i64>(digits.size()) : 0;
  if (zeros > 0) digits.insert(0, static_cast<std::size_t>(zeros), '0');
  i64 missing = has_width ? width - static_cast<i64>(sign.size() + prefix.size() + digits.size()) : 0;
  if (missing > 0 && zero && !minus && !has_precision) digits.insert(0, static_cast<std::size_t>(missing), '0');
  padded_with_spaces(out, sign + std::string(prefix) + digits);
}

void GoField::unicode(std::string& out, u64 c) const {
  std::string digits = digits_of(c, 16, true);
  std::size_t least = has_precision && precision > 4 ? static_cast<std::size_t>(precision) : 4;
  if (digits.size() < least) digits.insert(0, least - digits.size(), '0');
  std::string text = "U+" + digits;
  if (sharp && c <= kLastCharacter && is_printable(static_cast<char32_t>(c))) text += " '" + character_text(c) + "'";
  padded_with_spaces(out, text);
}

void GoField::character(std::string& out, u64 c, bool quoted) const {
  std::string text = character_text(c);
  padded(out, quoted ? go_quote(text, '\'', plus) : text);
}

std::string GoField::with_point(std::string number, char verb, i64 wanted) const {
  i64 digits = 0;  // to be shown, of those that count
  if (verb == 'g' || verb == 'G' || verb == 'x') digits = wanted < 0 ? 6 : wanted;
  bool hexadecimal = verb == 'x' || verb == 'X';
  std::size_t exponent = number.find_first_of(hexadecimal ? "pP" : "eE");
  std::string tail;
  if (exponent != std::string::npos) {
    tail = number.substr(exponent);
    number.resize(exponent);
  }
  bool counting = false;
  for (char c : number) {
    if (c == '.' || c == '+' || c == '-' || c == ' ') continue;
    counting |= c != '0';
    digits -= counting;
  }
  if (number.find('.') == std::string::npos) {
    if (number.size() == 2 && number[1] == '0') --digits;  // a single zero counts
    number += '.';
  }
  pad(number, digits, '0');
  return number + tail;
}

void GoField::floating(std::string& out, double d, char verb, i64 usual_precision) const {
  i64 wanted = has_precision ? precision : usual_precision;
  std::string number = go_float(d, verb, wanted);
  if (number[0] != '-' && number[0] != '+') number.insert(0, 1, '+');
  if (space && number[0] == '+' && !plus) number[0] = ' ';
  if (number[1] == 'I' || number[1] == 'N') {
    if (number[1] == 'N' && !space && !plus) number.erase(0, 1);
    return padded_with_spaces(out, number);
  }
  if (sharp && verb != 'b') number = with_point(std::move(number), verb, wanted);
  if (!plus && number[0] == '+') return padded(out, std::string_view(number).substr(1));
  if (filling() == '0' && has_width && width > static_cast<i64>(number.size()))  // zeros go after the sign
    number.insert(1, static_cast<std::size_t>(width) - number.size(), '0');
  padded(out, number);
}

std::string_view GoField::truncated(std::string_view text) const {
  if (!has_precision) return text;
  std::size_t at = 0;
  for (i64 n = precision; n > 0 && at < text.size(); --n) utf8::decode(text, at);
  return text.substr(0, at);
}

void GoField::quoted(std::string& out, std::string_view text) const {
  text = truncated(text);
  padded(out, sharp && can_backquote(text) ? "`" + std::string(text) + "`" : go_quote(text, '"', plus));
}

void GoField::hexadecimal(std::string& out, std::string_view bytes, bool upper) const {
  if (has_precision && precision < static_cast<i64>(bytes.size()))
    bytes = bytes.substr(0, static_cast<std::size_t>(precision));
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0 && space) text += ' ';
    if (sharp && (i == 0 || space)) text += upper ? "0X" : "0x";
    auto b = static_cast<unsigned char>(bytes[i]);
    text += upper ? fmt::format("{:02X}", b) : fmt::format("{:02x}", b);
  }
  padded(out, text);
}

}  // namespace tutti::cue
