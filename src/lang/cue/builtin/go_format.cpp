// Go's fmt.Sprint and fmt.Sprintf, for templates.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/decimal.h"
#include "base/utf8.h"
#include "lang/cue/builtin/go_value.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

const char* GoValue::type() const {
  switch (kind) {
    case kInvalid:
    case kNil: return "<nil>";
    case kBool: return "bool";
    case kInt: return from_data ? "int64" : "int";
    case kByte: return "uint8";
    case kFloat: return "float64";
    case kString: return "string";
    case kBytes: return "[]uint8";
    case kBigInt: return "*big.Int";
    case kList: return "[]interface {}";
    case kMap: return "map[string]interface {}";
  }
  return "";
}

std::size_t GoValue::length() const {
  switch (kind) {
    case kList: return list->size();
    case kMap: return map->size();
    default: return text.size();
  }
}

std::string go_float(double d, char format, int precision) {
  if (std::isnan(d)) return "NaN";
  if (std::isinf(d)) return d < 0 ? "-Inf" : "+Inf";
  bool upper = format == 'E' || format == 'G' || format == 'F';
  char f = static_cast<char>(std::tolower(static_cast<unsigned char>(format)));
  std::string out;
  if (precision >= 0) {
    std::string spec = fmt::format("%.{}{}", precision, f);
    int size = std::snprintf(nullptr, 0, spec.c_str(), d);
    out.resize(static_cast<std::size_t>(size) + 1);
    std::snprintf(out.data(), out.size(), spec.c_str(), d);
    out.pop_back();
  } else {
    char buffer[400];
    auto written = [&](std::chars_format how) {
      auto r = std::to_chars(buffer, buffer + sizeof buffer, d, how);
      return std::string(buffer, r.ptr);
    };
    out = written(std::chars_format::scientific);
    if (f != 'e') {
      int exponent = std::atoi(out.c_str() + out.find('e') + 1);
      if (f == 'f' || (exponent >= -4 && exponent < 6)) out = written(std::chars_format::fixed);
    }
  }
  if (upper)
    for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

namespace {

std::string rune_text(i64 r) {
  if (r < 0 || r > 0x10FFFF || (r >= 0xD800 && r < 0xE000)) r = 0xFFFD;
  std::string out;
  utf8::append(out, static_cast<char32_t>(r));
  return out;
}

std::size_t runes(std::string_view s) {
  return static_cast<std::size_t>(std::ranges::count_if(s, [](char c) { return (static_cast<u8>(c) & 0xC0) != 0x80; }));
}

// The first runes of a text.
std::string_view cut(std::string_view s, std::size_t n) {
  std::size_t at = 0;
  while (at < s.size() && n-- > 0) utf8::decode(s, at);
  return s.substr(0, at);
}

struct PrintFlags {
  bool plus = false, minus = false, sharp = false, space = false, zero = false, has_width = false,
       has_precision = false;
  bool go_syntax = false, plus_v = false;
  i64 width = 0, precision = 0;
};

class Printer {
 public:
  std::string out;

  void argument(const GoValue& v, char32_t verb) {
    if (!v.valid() || v.is_nil()) {
      if (verb == 'T' || verb == 'v')
        pad("<nil>");
      else
        bad(v, verb);
      return;
    }
    if (verb == 'T') return text(v.type(), 's', v);
    value(v, verb, 0);
  }

  void format(std::string_view f, std::span<const GoValue> a) {
    std::size_t i = 0, arg = 0;
    bool reordered = false;
    while (i < f.size()) {
      check_text(out.size());
      good_ = true;
      std::size_t next = std::min(f.find('%', i), f.size());
      out += f.substr(i, next - i);
      i = next;
      if (i >= f.size()) break;
      ++i;
      flags_ = {};
      for (; i < f.size() && std::strchr("#0+- ", f[i]); ++i) {
        switch (f[i]) {
          case '#': flags_.sharp = true; break;
          case '0': flags_.zero = true; break;
          case '+': flags_.plus = true; break;
          case '-': flags_.minus = true; break;
          default: flags_.space = true;
        }
      }
      bool after_index = index(f, i, arg, a.size(), reordered);
      if (i < f.size() && f[i] == '*') {
        ++i;
        flags_.has_width = from_argument(a, arg, flags_.width);
        if (!flags_.has_width) out += "%!(BADWIDTH)";
        if (flags_.width < 0) {
          flags_.width = -flags_.width;
          flags_.minus = true;
          flags_.zero = false;
        }
        after_index = false;
      } else {
        flags_.has_width = digits(f, i, flags_.width);
        if (after_index && flags_.has_width) good_ = false;
      }
      if (i < f.size() && f[i] == '.') {
        ++i;
        if (after_index) good_ = false;
        after_index = index(f, i, arg, a.size(), reordered);
        if (i < f.size() && f[i] == '*') {
          ++i;
          flags_.has_precision = from_argument(a, arg, flags_.precision);
          if (flags_.precision < 0) flags_.precision = 0, flags_.has_precision = false;
          if (!flags_.has_precision) out += "%!(BADPREC)";
          after_index = false;
        } else {
          digits(f, i, flags_.precision);
          flags_.has_precision = true;
        }
      }
      if (!after_index) index(f, i, arg, a.size(), reordered);
      if (i >= f.size()) {
        out += "%!(NOVERB)";
        break;
      }
      std::size_t from = i;
      char32_t verb = utf8::decode(f, i);
      std::string_view written = f.substr(from, i - from);
      if (verb == '%') {
        out += '%';
      } else if (!good_) {
        out += fmt::format("%!{}(BADINDEX)", written);
      } else if (arg >= a.size()) {
        out += fmt::format("%!{}(MISSING)", written);
      } else {
        if (verb == 'v') {
          flags_.go_syntax = std::exchange(flags_.sharp, false);
          flags_.plus_v = std::exchange(flags_.plus, false);
        }
        argument(a[arg++], verb);
      }
    }
    if (reordered || arg >= a.size()) return;
    flags_ = {};
    out += "%!(EXTRA ";
    for (std::size_t k = arg; k < a.size(); ++k) {
      if (k > arg) out += ", ";
      if (!a[k].valid() || a[k].is_nil()) {
        out += "<nil>";
        continue;
      }
      out += std::string(a[k].type()) + "=";
      argument(a[k], 'v');
    }
    out += ')';
  }

 private:
  static bool digits(std::string_view f, std::size_t& i, i64& n) {
    bool any = false;
    n = 0;
    for (; i < f.size() && f[i] >= '0' && f[i] <= '9'; ++i) {
      if (n > 1'000'000) {
        i = f.size();
        n = 0;
        return false;
      }
      n = n * 10 + (f[i] - '0');
      any = true;
    }
    return any;
  }

  static bool from_argument(std::span<const GoValue> a, std::size_t& arg, i64& n) {
    if (arg >= a.size()) return false;
    const GoValue& v = a[arg++];
    if (v.kind != GoValue::kInt || v.integer > 1'000'000 || v.integer < -1'000'000) return false;
    n = v.integer;
    return true;
  }

  // [3]: which argument comes next.
  bool index(std::string_view f, std::size_t& i, std::size_t& arg, std::size_t many, bool& reordered) {
    if (i >= f.size() || f[i] != '[') return false;
    reordered = true;
    std::size_t close = f.find(']', i);
    if (close == std::string_view::npos) {
      good_ = false;
      ++i;
      return false;
    }
    i64 n = 0;
    std::size_t at = i + 1;
    bool ok = digits(f.substr(0, close), at, n) && at == close;
    i = close + 1;
    if (ok && n >= 1 && n <= static_cast<i64>(many)) {
      arg = static_cast<std::size_t>(n - 1);
      return true;
    }
    good_ = false;
    return ok;
  }

  void pad(std::string_view s) {
    std::size_t n = runes(s), width = flags_.has_width ? static_cast<std::size_t>(flags_.width) : 0;
    std::size_t more = width > n ? width - n : 0;
    check_text(out.size() + more);
    if (flags_.minus) {
      out += s;
      out.append(more, ' ');
    } else {
      out.append(more, flags_.zero ? '0' : ' ');
      out += s;
    }
  }

  void bad(const GoValue& v, char32_t verb) {
    std::string name = rune_text(static_cast<i64>(verb));
    if (!v.valid() || v.is_nil()) {
      out += fmt::format("%!{}(<nil>)", name);
      return;
    }
    out += fmt::format("%!{}({}=", name, v.type());
    argument(v, 'v');
    out += ')';
  }

  void value(const GoValue& v, char32_t verb, int depth) {
    switch (v.kind) {
      case GoValue::kInvalid:
      case GoValue::kNil:
        if (flags_.go_syntax)
          out += depth > 0 ? "interface {}(nil)" : "<nil>";
        else if (depth > 0)
          out += "<nil>";
        else
          pad("<nil>");
        return;
      case GoValue::kBool:
        if (verb != 't' && verb != 'v') return bad(v, verb);
        return pad(v.truth ? "true" : "false");
      case GoValue::kInt:
      case GoValue::kByte: return integer(v, verb);
      case GoValue::kFloat: return floating(v, verb);
      case GoValue::kBigInt: return big(v, verb);
      case GoValue::kString: return text(v.text, verb, v);
      case GoValue::kBytes: return bytes(v, verb);
      case GoValue::kList: {
        if (flags_.go_syntax) out += v.type();
        out += flags_.go_syntax ? '{' : '[';
        bool first = true;
        for (const GoValue& e : *v.list) {
          if (!std::exchange(first, false)) out += flags_.go_syntax ? ", " : " ";
          value(e, verb, depth + 1);
        }
        out += flags_.go_syntax ? '}' : ']';
        return;
      }
      case GoValue::kMap: {
        out += flags_.go_syntax ? std::string(v.type()) + "{" : "map[";
        bool first = true;
        for (const auto& [k, e] : *v.map) {
          if (!std::exchange(first, false)) out += flags_.go_syntax ? ", " : " ";
          value(GoValue::string(k), verb, depth + 1);
          out += ':';
          value(e, verb, depth + 1);
        }
        out += flags_.go_syntax ? '}' : ']';
        return;
      }
    }
  }

  void integer(const GoValue& v, char32_t verb) {
    bool negative = v.integer < 0;
    u64 n = negative ? ~static_cast<u64>(v.integer) + 1 : static_cast<u64>(v.integer);
    switch (verb) {
      case 'v':
        if (flags_.go_syntax && v.kind == GoValue::kByte) return out += fmt::format("{:#x}", n), void();
        return number(negative, fmt::format("{}", n), "");
      case 'd': return number(negative, fmt::format("{}", n), "");
      case 'b': return number(negative, fmt::format("{:b}", n), flags_.sharp ? "0b" : "");
      case 'o': {
        std::string s = fmt::format("{:o}", n);
        return number(negative, flags_.sharp && s[0] != '0' ? "0" + s : s, "");
      }
      case 'O': return number(negative, fmt::format("{:o}", n), "0o");
      case 'x': return number(negative, fmt::format("{:x}", n), flags_.sharp ? "0x" : "");
      case 'X': return number(negative, fmt::format("{:X}", n), flags_.sharp ? "0X" : "");
      case 'c': return pad(rune_text(v.integer));
      case 'q': return pad(quoted_rune(v.integer));
      case 'U': {
        std::string s = fmt::format("U+{:04X}", n);
        char32_t r = static_cast<char32_t>(v.integer);
        if (flags_.sharp && n <= 0x10FFFF && is_printable(r)) s += " '" + rune_text(v.integer) + "'";
        flags_.zero = false;
        return pad(s);
      }
      default: return bad(v, verb);
    }
  }

  static std::string quoted_rune(i64 r) {
    std::string c = rune_text(r);
    if (c == "'") return "'\\''";
    if (c == "\"") return "'\"'";
    std::string q = go_quote(c);
    return "'" + q.substr(1, q.size() - 2) + "'";
  }

  // Signs and prefixes come before the zeros that a precision or the flag 0 asks for.
  void number(bool negative, std::string n, std::string_view prefix) {
    std::string sign = negative ? "-" : flags_.plus ? "+" : flags_.space ? " " : "";
    std::size_t least = 0;
    if (flags_.has_precision) {
      least = static_cast<std::size_t>(flags_.precision);
      if (least == 0 && n == "0") {
        flags_.zero = false;
        return pad("");
      }
    } else if (flags_.zero && !flags_.minus && flags_.has_width) {
      least = static_cast<std::size_t>(flags_.width);
      least -= std::min(least, sign.size());
    }
    check_text(least);
    if (n.size() < least) n.insert(0, least - n.size(), '0');
    bool zero = std::exchange(flags_.zero, false);
    pad(sign + std::string(prefix) + n);
    flags_.zero = zero;
  }

  void floating(const GoValue& v, char32_t verb) {
    int precision = flags_.has_precision ? static_cast<int>(flags_.precision) : -1;
    char f;
    switch (verb) {
      case 'v': f = 'g'; break;
      case 'g':
      case 'G': f = static_cast<char>(verb); break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
        f = static_cast<char>(verb);
        if (precision < 0) precision = 6;
        break;
      default: return bad(v, verb);
    }
    std::string s = go_float(v.real, f, precision);
    bool negative = s[0] == '-';
    if (negative || s[0] == '+') s.erase(0, 1);
    bool finite = std::isfinite(v.real);
    std::string sign = negative ? "-" : flags_.plus ? "+" : flags_.space ? " " : !finite && s == "Inf" ? "+" : "";
    bool zero = flags_.zero;
    if (!finite) flags_.zero = false;
    if (flags_.zero && !flags_.minus && flags_.has_width &&
        static_cast<std::size_t>(flags_.width) > s.size() + sign.size())
      s.insert(0, static_cast<std::size_t>(flags_.width) - s.size() - sign.size(), '0');
    flags_.zero = false;
    pad(sign + s);
    flags_.zero = zero;
  }

  void big(const GoValue& v, char32_t verb) {
    bool negative = v.text[0] == '-';
    std::string digits = negative ? v.text.substr(1) : v.text;
    if (verb == 'd' || verb == 'v' || verb == 's') return number(negative, digits, "");
    int base = verb == 'x' || verb == 'X' ? 16 : verb == 'o' ? 8 : verb == 'b' ? 2 : 0;
    if (!base) {
      out += fmt::format("%!{}(big.Int={})", rune_text(static_cast<i64>(verb)), v.text);
      return;
    }
    std::string converted;  // divided by the base again and again
    while (digits != "0") {
      int rest = 0;
      std::string quotient;
      for (char c : digits) {
        rest = rest * 10 + (c - '0');
        if (!quotient.empty() || rest >= base) quotient += static_cast<char>('0' + rest / base);
        rest %= base;
      }
      converted += (verb == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[rest];
      digits = quotient.empty() ? "0" : quotient;
    }
    std::ranges::reverse(converted);
    number(negative, converted, flags_.sharp && base == 16 ? (verb == 'X' ? "0X" : "0x") : "");
  }

  void hex(std::string_view s, char32_t verb) {
    if (flags_.has_precision) s = s.substr(0, std::min(s.size(), static_cast<std::size_t>(flags_.precision)));
    std::string r;
    for (std::size_t i = 0; i < s.size(); ++i) {
      if (flags_.space && i > 0) r += ' ';
      if (flags_.sharp && (flags_.space || i == 0)) r += verb == 'x' ? "0x" : "0X";
      auto byte = static_cast<unsigned char>(s[i]);
      r += verb == 'x' ? fmt::format("{:02x}", byte) : fmt::format("{:02X}", byte);
    }
    pad(r);
  }

  void text(std::string_view s, char32_t verb, const GoValue& v) {
    if (verb == 'x' || verb == 'X') return hex(s, verb);
    if (flags_.has_precision) s = cut(s, static_cast<std::size_t>(flags_.precision));
    if (verb == 's' || (verb == 'v' && !flags_.go_syntax)) return pad(s);
    if (verb != 'q' && verb != 'v') return bad(v, verb);
    bool raw = flags_.sharp && s.find('`') == std::string_view::npos &&
               std::ranges::none_of(s, [](char c) { return (static_cast<u8>(c) < 32 && c != '\t') || c == 127; });
    pad(raw && verb == 'q' ? "`" + std::string(s) + "`" : flags_.plus ? ascii_quote(s) : go_quote(s));
  }

  static std::string ascii_quote(std::string_view s) {
    std::string quoted = go_quote(s), r;
    for (std::size_t i = 0; i < quoted.size();) {
      char32_t c = utf8::decode(quoted, i);
      if (c < 0x80)
        r += static_cast<char>(c);
      else
        r +=
            c < 0x10000 ? fmt::format("\\u{:04x}", static_cast<u32>(c)) : fmt::format("\\U{:08x}", static_cast<u32>(c));
    }
    return r;
  }

  void bytes(const GoValue& v, char32_t verb) {
    if (verb == 's' || verb == 'q' || verb == 'x' || verb == 'X') return text(v.text, verb, v);
    if (verb == 'v' && flags_.go_syntax) {
      out += "[]byte{";
      for (std::size_t i = 0; i < v.text.size(); ++i)
        out += fmt::format("{}{:#x}", i ? ", " : "", static_cast<unsigned char>(v.text[i]));
      out += '}';
      return;
    }
    out += '[';
    for (std::size_t i = 0; i < v.text.size(); ++i) {
      if (i) out += ' ';
      GoValue b = GoValue::of(GoValue::kByte);
      b.integer = static_cast<unsigned char>(v.text[i]);
      integer(b, verb);
    }
    out += ']';
  }

  PrintFlags flags_;
  bool good_ = true;  // the index of an argument
};

}  // namespace

std::string go_sprint(std::span<const GoValue> values) {
  Printer p;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0 && values[i].kind != GoValue::kString && values[i - 1].kind != GoValue::kString) p.out += ' ';
    p.argument(values[i], 'v');
  }
  return p.out;
}

std::string go_sprintln(std::span<const GoValue> values) {
  Printer p;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) p.out += ' ';
    p.argument(values[i], 'v');
  }
  return p.out + "\n";
}

std::string go_sprintf(std::string_view format, std::span<const GoValue> values) {
  Printer p;
  p.format(format, values);
  return p.out;
}

}  // namespace tutti::cue
