#include <fmt/format.h>

#include <cmath>

#include "base/utf8.h"
#include "lang/cue/builtin/go_float.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace {

constexpr char kHex[] = "0123456789abcdef";

bool is_graphic(char32_t c) {
  return is_printable(c) || c == 0xA0 || c == 0x3000 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F ||
         c == 0x1680;
}

// Go's quoting of text, and of a character.
std::string quote_go(std::string_view s, char mark, bool ascii, bool graphic) {
  std::string out(1, mark);
  for (std::size_t i = 0; i < s.size();) {
    std::size_t from = i;
    char32_t c = utf8::decode(s, i);
    if (c == utf8::kInvalid) {
      unsigned char b = static_cast<unsigned char>(s[from]);
      out += "\\x";
      out += kHex[b >> 4];
      out += kHex[b & 15];
      continue;
    }
    if (c == static_cast<unsigned char>(mark) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if ((c < 0x80 || !ascii) && (is_printable(c) || (graphic && is_graphic(c)))) {
      out.append(s, from, i - from);
    } else {
      switch (c) {
        case '\a': out += "\\a"; break;
        case '\b': out += "\\b"; break;
        case '\f': out += "\\f"; break;
        case '\n': out += "\\n"; break;
        case '\r': out += "\\r"; break;
        case '\t': out += "\\t"; break;
        case '\v': out += "\\v"; break;
        default: {
          int digits = c < ' ' || c == 0x7F ? 2 : c < 0x10000 ? 4 : 8;
          out += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
          for (int d = digits - 1; d >= 0; --d) out += kHex[c >> (4 * d) & 15];
        }
      }
    }
  }
  return out + mark;
}

Node* num_error(CallContext& c, std::string_view function, std::string_view text, std::string_view what) {
  return c.error(fmt::format("strconv.{}: parsing {}: {}", function, quote_go(text, '"', false, false), what));
}

// As Go's big.Int reads: base 0 takes the prefix and allows underscores.
std::optional<Decimal> parse_big(std::string_view s, i64 base) {
  std::string digits;
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) {
    if (s[0] == '-') digits = "-";
    s.remove_prefix(1);
  }
  if (base == 0) {
    base = 10;
    if (s.size() > 1 && s[0] == '0') {
      char p = static_cast<char>(s[1] | 0x20);
      if (p == 'x' || p == 'b' || p == 'o') {
        base = p == 'x' ? 16 : p == 'b' ? 2 : 8;
        s.remove_prefix(2);
      } else {
        base = 8;
        s.remove_prefix(1);
      }
    }
    for (char ch : s)
      if (ch != '_') digits += ch;
  } else {
    digits += s;
  }
  if (base < 2 || base > 36) return std::nullopt;
  return Decimal::parse_integer(digits, static_cast<int>(base));
}

bool is_base(i64 base) { return base == 0 || (base >= 2 && base <= 62); }

Node* parse_int(CallContext& c, std::string_view name, i64 base, i64 bits) {
  std::string_view s = c.string(0);
  if (c.failed()) return nullptr;
  if (!is_base(base)) return c.error(fmt::format("invalid number base {}", base));
  if (bits < 0) return num_error(c, name, s, "value out of range");
  std::optional<Decimal> n = parse_big(s, base);
  if (!n) return num_error(c, name, s, "invalid syntax");
  if (bits == 0) return int_result(c, *n);
  u32 length = decimal::int_bit_length(*n);
  if (n->negative() && length == bits) length = decimal::int_bit_length(decimal::int_add(*n, Decimal(1)));
  if (static_cast<i64>(length) > bits - 1) return num_error(c, name, s, "value out of range");
  return int_result(c, *n);
}

std::string rune_text(i64 r) {
  std::string s;
  utf8::append(s, r < 0 || r > 0x10FFFF || (r >= 0xD800 && r < 0xE000) ? 0xFFFD : static_cast<char32_t>(r));
  return s;
}

const BuiltinSpec kFunctions[] = {
    {"Unquote",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       Unquoted u = unquote(c.string(0));
       if (c.failed()) return nullptr;
       return u.ok() ? c.make_string(u.text) : c.error(u.error);
     }},
    {"ParseBool",
     {kStringKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.string(0);
       if (c.failed()) return nullptr;
       for (auto t : {"1", "t", "T", "TRUE", "true", "True"})
         if (s == t) return c.make_bool(true);
       for (auto f : {"0", "f", "F", "FALSE", "false", "False"})
         if (s == f) return c.make_bool(false);
       return num_error(c, "ParseBool", s, "invalid syntax");
     }},
    {"FormatBool",
     {kBoolKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(c.boolean(0) ? "true" : "false"); }},
    {"ParseFloat",
     {kStringKind, kIntKind},
     kNumberKind,
     [](CallContext& c) -> Node* {
       std::string s(c.string(0));
       i64 bits = c.integer(1);
       if (c.failed()) return nullptr;
       std::string digits;
       for (char ch : s)
         if (ch != '_') digits += ch;
       const char* from = digits.c_str();
       char* end = nullptr;
       double d = std::strtod(from, &end);
       bool odd = digits.empty() || std::isspace(static_cast<unsigned char>(digits[0]));
       if (odd || end != from + digits.size()) return num_error(c, "ParseFloat", s, "invalid syntax");
       if (std::isinf(d) && digits.find_first_of("nN") == std::string::npos)
         return num_error(c, "ParseFloat", s, "value out of range");
       if (bits == 32) d = static_cast<float>(d);
       return float_result(c, d);
     }},
    {"ParseNumber",
     {kStringKind},
     kNumberKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.string(0);
       if (c.failed()) return nullptr;
       Number n = parse_number(s);
       return n.ok() ? number_result(c, n.value) : num_error(c, "ParseNumber", s, n.error);
     }},
    {"ParseUint",
     {kStringKind, kIntKind, kIntKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.string(0);
       i64 base = c.integer(1), bits = c.integer(2);
       if (c.failed()) return nullptr;
       if (bits < 0) return num_error(c, "ParseUint", s, "value out of range");
       if (!is_base(base)) return c.error(fmt::format("invalid number base {}", base));
       std::optional<Decimal> n = parse_big(s, base);
       if (!n) return num_error(c, "ParseUint", s, "invalid syntax");
       if (n->negative() || (bits > 0 && static_cast<i64>(decimal::int_bit_length(*n)) > bits))
         return num_error(c, "ParseUint", s, "value out of range");
       return int_result(c, *n);
     }},
    {"ParseInt",
     {kStringKind, kIntKind, kIntKind},
     kIntKind,
     [](CallContext& c) -> Node* { return parse_int(c, "ParseInt", c.integer(1), c.integer(2)); }},
    {"Atoi", {kStringKind}, kIntKind, [](CallContext& c) -> Node* { return parse_int(c, "Atoi", 10, 0); }},
    {"FormatFloat",
     {kNumberKind, kTopKind, kIntKind, kIntKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       double d = c.number(0).to_double();
       i64 precision = c.integer(2), bits = c.integer(3);
       if (c.failed()) return nullptr;
       Node* f = plain(c.args[1]);
       char form = 0;
       if (concrete_kind(f) == kStringKind) {
         std::string_view s = c.string(1);
         if (s.size() != 1) return c.error("expected single character string");
         form = s[0];
       } else if (concrete_kind(f) == kIntKind) {
         i64 n = c.integer(1);
         if (n < 0 || n > 255) return c.error(fmt::format("format value {} out of range [0, 255]", n));
         form = static_cast<char>(n);
       } else {
         return c.error(fmt::format("unexpected kind {}", kinds_text(concrete_kind(f))));
       }
       if (bits != 32 && bits != 64) return c.error("strconv: illegal AppendFloat/FormatFloat bitSize");
       return c.make_string(go_float(d, form, precision, static_cast<int>(bits)));
     }},
    {"FormatUint",
     {kIntKind, kIntKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       i64 base = c.integer(1);
       if (c.failed()) return nullptr;
       if (base < 2 || base > 62) return c.error("invalid base");
       return c.make_string(c.number(0).integer_text(static_cast<int>(base)));
     }},
    {"FormatInt",
     {kIntKind, kIntKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       i64 base = c.integer(1);
       if (c.failed()) return nullptr;
       if (base < 2 || base > 62) return c.error("invalid base");
       return c.make_string(c.number(0).integer_text(static_cast<int>(base)));
     }},
    {"Quote",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(quote_go(c.string(0), '"', false, false)); }},
    {"QuoteToASCII",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(quote_go(c.string(0), '"', true, false)); }},
    {"QuoteToGraphic",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(quote_go(c.string(0), '"', false, true)); }},
    {"QuoteRune",
     {kIntKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(quote_go(rune_text(c.integer(0)), '\'', false, false)); }},
    {"QuoteRuneToASCII",
     {kIntKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(quote_go(rune_text(c.integer(0)), '\'', true, false)); }},
    {"QuoteRuneToGraphic",
     {kIntKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(quote_go(rune_text(c.integer(0)), '\'', false, true)); }},
    {"IsPrint",
     {kIntKind},
     kBoolKind,
     [](CallContext& c) -> Node* { return c.make_bool(is_printable(static_cast<char32_t>(c.integer(0)))); }},
    {"IsGraphic",
     {kIntKind},
     kBoolKind,
     [](CallContext& c) -> Node* { return c.make_bool(is_graphic(static_cast<char32_t>(c.integer(0)))); }},
};

const ConstantSpec kConstants[] = {{"IntSize", "64"}};

}  // namespace

std::string go_quote(std::string_view s, char mark, bool ascii) { return quote_go(s, mark, ascii, false); }

void add_strconv() { add_package("strconv", kFunctions, kConstants); }

}  // namespace tutti::cue
