// Constants in the actions of a template: Go's strings, characters and numbers.
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/utf8.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/builtin/template_lexer.h"
#include "lang/cue/builtin/template_tree.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace {

[[noreturn]] void bad_literal() { throw TemplateError{"invalid syntax"}; }

struct GoCharacter {
  u32 value;
  bool is_byte;  // \x and octal escapes in a string are bytes
};

u32 escape_digits(std::string_view s, std::size_t& at, std::size_t count, u32 base) {
  if (s.size() - at < count) bad_literal();
  u32 v = 0;
  for (std::size_t i = 0; i < count; ++i) {
    int d = digit_value(s[at++]);
    if (d < 0 || static_cast<u32>(d) >= base) bad_literal();
    v = v * base + static_cast<u32>(d);
  }
  return v;
}

// One character within quotes, which may be an escape.
GoCharacter go_character(std::string_view s, std::size_t& at, char mark) {
  if (at >= s.size() || s[at] == mark || s[at] == '\n') bad_literal();
  if (s[at] != '\\') {
    char32_t c = utf8::decode(s, at);
    return {c == utf8::kInvalid ? 0xFFFD : static_cast<u32>(c), false};
  }
  if (++at >= s.size()) bad_literal();
  char c = s[at++];
  constexpr std::string_view kLetters = "abfnrtv\\", kMeant = "\a\b\f\n\r\t\v\\";
  if (std::size_t i = kLetters.find(c); i != std::string_view::npos) return {static_cast<u32>(kMeant[i]), false};
  switch (c) {
    case 'x': return {escape_digits(s, at, 2, 16), true};
    case 'u':
    case 'U': {
      u32 v = escape_digits(s, at, c == 'u' ? 4 : 8, 16);
      if (v > 0x10FFFF || (v >= 0xD800 && v < 0xE000)) bad_literal();
      return {v, false};
    }
    case '\'':
    case '"':
      if (c != mark) bad_literal();
      return {static_cast<u32>(c), false};
    default: break;
  }
  if (c < '0' || c > '7') bad_literal();
  u32 v = escape_digits(s, --at, 3, 8);
  if (v > 255) bad_literal();
  return {v, true};
}

// Digits may have underscores between them and after the prefix of a base.
bool underscores_right(std::string_view s) {
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) s.remove_prefix(1);
  char before = '^';
  bool hexadecimal = false;
  if (s.size() >= 2 && s[0] == '0' && std::string_view("bBoOxX").find(s[1]) != std::string_view::npos) {
    hexadecimal = (s[1] | 0x20) == 'x';
    before = '0';
    s.remove_prefix(2);
  }
  for (char c : s) {
    bool digit = (c >= '0' && c <= '9') || (hexadecimal && digit_value(c) >= 0);
    if (c == '_' ? before != '0' : !digit && before == '_') return false;
    before = digit ? '0' : c == '_' ? '_' : '!';
  }
  return before != '_';
}

// An unsigned integer with the prefix of its base; nullopt when it is none or too large.
std::optional<u64> go_unsigned(std::string_view text) {
  if (text.empty() || !underscores_right(text)) return std::nullopt;
  std::string_view s = text;
  u64 base = 10, n = 0;
  if (s[0] == '0') {
    char p = s.size() >= 3 ? static_cast<char>(s[1] | 0x20) : '\0';
    base = p == 'b' ? 2 : p == 'x' ? 16 : 8;
    s.remove_prefix(p == 'b' || p == 'x' || p == 'o' ? 2 : 1);
  }
  for (char c : s) {
    if (c == '_') continue;
    int d = digit_value(c);
    if (d < 0 || static_cast<u64>(d) >= base) return std::nullopt;
    if (__builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, static_cast<u64>(d), &n)) return std::nullopt;
  }
  return n;
}

std::optional<i64> go_integer(std::string_view s) {
  bool negative = s.starts_with('-');
  if (negative || s.starts_with('+')) s.remove_prefix(1);
  std::optional<u64> n = go_unsigned(s);
  if (!n || *n > (u64{1} << 63) - !negative) return std::nullopt;
  return negative ? static_cast<i64>(0 - *n) : static_cast<i64>(*n);
}

std::optional<double> go_real(std::string_view text) {
  if (!underscores_right(text)) return std::nullopt;
  std::string s;
  for (char c : text)
    if (c != '_') s += c;
  std::string_view digits = s;
  if (digits.starts_with('-') || digits.starts_with('+')) digits.remove_prefix(1);
  bool hexadecimal = digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'x';
  if (hexadecimal && digits.find_first_of("pP") == std::string_view::npos) return std::nullopt;
  if (digits.find_first_not_of(hexadecimal ? "0123456789abcdefABCDEFxX.pP+-" : "0123456789.eE+-") !=
      std::string_view::npos)
    return std::nullopt;
  char* end = nullptr;
  double d = std::strtod(s.c_str(), &end);
  if (s.empty() || end != s.c_str() + s.size() || std::isinf(d)) return std::nullopt;
  return d;
}

GoValue complex_value(double real, double imaginary) {
  GoValue v;
  v.kind = GoValue::kComplex;
  v.real = real;
  v.imaginary = imaginary;
  return v;
}

}  // namespace

std::string template_unquote(std::string_view text) {
  std::string out;
  if (text[0] == '`') {
    for (char c : text.substr(1, text.size() - 2))
      if (c != '\r') out += c;
    return out;
  }
  std::string_view s = text.substr(0, text.size() - 1);
  for (std::size_t at = 1; at < s.size();) {
    GoCharacter c = go_character(s, at, text[0]);
    if (c.is_byte)
      out += static_cast<char>(c.value);
    else
      utf8::append(out, c.value);
  }
  return out;
}

GoValue template_number(std::string_view text, bool character, bool& overflows) {
  overflows = false;
  if (character) {
    std::size_t at = 1;
    GoCharacter c = go_character(text, at, '\'');
    if (at != text.size() - 1) throw TemplateError{"malformed character constant: " + std::string(text)};
    return GoValue::number(c.value);
  }
  if (text.ends_with('i')) {
    std::string_view s = text.substr(0, text.size() - 1);
    std::size_t sign = s.size();  // of the second part
    while (sign-- > 1)
      if ((s[sign] == '+' || s[sign] == '-') && std::string_view("eEpP").find(s[sign - 1]) == std::string_view::npos)
        break;
    bool both = sign > 0 && sign < s.size();
    auto real = both ? go_real(s.substr(0, sign)) : 0.0, imaginary = go_real(both ? s.substr(sign) : s);
    if (real && imaginary) return complex_value(*real, *imaginary);
  }
  bool point = text.find_first_of(".eEpP") != std::string_view::npos;
  bool hexadecimal = text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'x' &&
                     text.find_first_of("pP") == std::string_view::npos;
  if (auto i = go_integer(text))
    return point && !hexadecimal ? GoValue::floating(static_cast<double>(*i)) : GoValue::number(*i);
  if (go_unsigned(text)) {
    overflows = true;
    return {};
  }
  std::optional<double> d = go_real(text);
  if (!d) throw TemplateError{"illegal number syntax: " + go_quote(text)};
  if (!point) throw TemplateError{"integer overflow: " + go_quote(text)};
  return GoValue::floating(*d);
}

}  // namespace tutti::cue
