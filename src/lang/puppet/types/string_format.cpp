#include "lang/puppet/types/string_format.h"

#include <fmt/format.h>

#include <cmath>

#include "base/base64.h"
#include "base/utf8.h"
#include "lang/puppet/text/ruby_format.h"

namespace tutti::puppet {
namespace {

struct TypedFormat;

struct Format {
  char letter = 's';
  bool alternative = false, left = false, zero = false, plus = false, space = false;
  char delimiter = 0;  // [ { ( < |
  int width = -1, precision = -1;
  std::string separator, separator2;
  bool has_separator = false, has_separator2 = false;
  std::vector<TypedFormat> inner;
  bool has_inner = false;
};
struct TypedFormat {
  const Type* first;
  Format second;
};
using FormatMap = std::vector<TypedFormat>;

Format parse_format(std::string_view s) {
  Format f;
  std::size_t p = 0;
  auto bad = [&] {
    return TypeError(fmt::format("the string format '{}' is not of the form %[flags][width][.precision]letter", s));
  };
  if (s.empty() || s[p++] != '%') throw bad();
  for (; p < s.size(); ++p) {
    char c = s[p];
    if (c == '#')
      f.alternative = true;
    else if (c == '-')
      f.left = true;
    else if (c == '0')
      f.zero = true;
    else if (c == '+')
      f.plus = true;
    else if (c == ' ')
      f.space = true;
    else if (std::string_view("[{(<|").find(c) != std::string_view::npos)
      f.delimiter = c;
    else
      break;
  }
  auto number = [&] {
    int n = 0;
    while (p < s.size() && s[p] >= '0' && s[p] <= '9' && n < 100000) n = n * 10 + (s[p++] - '0');
    return n;
  };
  if (p < s.size() && s[p] >= '1' && s[p] <= '9') f.width = number();
  if (p < s.size() && s[p] == '.') ++p, f.precision = number();
  if (p + 1 != s.size() || !std::isalpha(static_cast<unsigned char>(s[p]))) throw bad();
  f.letter = s[p];
  return f;
}

FormatMap parse_map(const Val& formats);

Format parse_one(const Val& v) {
  if (v.is(VK::kString)) return parse_format(v.text());
  if (!v.is(VK::kHash)) throw TypeError("a string format must be a String or a Hash");
  const Val* text = v.get("format");
  Format f = text ? parse_format(text->text()) : Format{};
  if (!text) f.letter = 0;
  if (const Val* s = v.get("separator")) f.separator = s->text(), f.has_separator = true;
  if (const Val* s = v.get("separator2")) f.separator2 = s->text(), f.has_separator2 = true;
  if (const Val* s = v.get("string_formats")) f.inner = parse_map(*s), f.has_inner = true;
  return f;
}

FormatMap parse_map(const Val& formats) {
  FormatMap out;
  if (formats.is(VK::kString)) {
    out.push_back({plain(TK::kAny), parse_format(formats.text())});
    return out;
  }
  for (const Pair& p : formats.entries()) {
    if (!p.key.is(VK::kType)) throw TypeError("the keys of string formats must be types");
    out.push_back({p.key.t, parse_one(p.value)});
  }
  return out;
}

// The format of the most special type that the value is of.
const Format* pick(const FormatMap& map, const Val& v) {
  const TypedFormat* best = nullptr;
  for (const auto& entry : map)
    if (is_instance(entry.first, v) && (!best || assignable(best->first, entry.first))) best = &entry;
  return best ? &best->second : nullptr;
}

std::string pad(std::string s, const Format& f) {
  int n = static_cast<int>(utf8::length(s));
  if (f.width <= n) return s;
  std::string fill(static_cast<std::size_t>(f.width - n), ' ');
  return f.left ? s + fill : fill + s;
}

[[noreturn]] void illegal(const Val& v, char letter, std::string_view known) {
  Arena arena;
  throw TypeError(
      fmt::format("illegal format '{}' specified for value of {} type - expected one of the characters '{}'", letter,
                  type_text(generalize(arena, infer(arena, v, Infer::kGeneralized))), known));
}

std::string format_float(double d, const Format& f) {
  std::string spec = "%";
  if (f.alternative) spec += '#';
  if (f.left) spec += '-';
  if (f.zero) spec += '0';
  if (f.plus) spec += '+';
  if (f.space) spec += ' ';
  if (f.width >= 0) spec += std::to_string(f.width);
  if (f.precision >= 0) spec += "." + std::to_string(f.precision);
  spec += f.letter;
  char buffer[512];
  int n = std::snprintf(buffer, sizeof buffer, spec.c_str(), d);
  return std::string(buffer, static_cast<std::size_t>(std::min(n, 511)));
}

std::string format_int(i64 i, const Format& f) {
  FormatDirective d;
  d.left = f.left, d.plus = f.plus, d.zero = f.zero, d.space = f.space, d.alternate = f.alternative;
  if (f.width >= 0) d.width = f.width;
  if (f.precision >= 0) d.precision = f.precision;
  d.conversion = f.letter;
  return format_integer(d, i);
}

std::string capitalized(std::string_view s) {
  std::size_t at = 0;
  if (s.empty()) return {};
  utf8::decode(s, at);
  return upcase(s.substr(0, at)) + downcase(s.substr(at));
}

std::string quoted(std::string_view s, bool alternative) {
  bool special = alternative;
  for (char c : s) special = special || static_cast<unsigned char>(c) < 32;
  if (!special) return to_literal(Val::string(s));
  std::string out = "\"";
  for (char c : s) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '$': out += "\\$"; break;
      default: out += c;
    }
  }
  return out + "\"";
}

struct Printer {
  std::string render(const Val& v, const FormatMap& map, int depth, bool breaks);

  std::string string(const Val& v, const Format& f) {
    std::string s(v.text());
    if (f.precision >= 0 && f.letter == 's') {
      std::size_t at = 0;
      for (int n = 0; n < f.precision && at < s.size(); ++n) utf8::decode(s, at);
      s.resize(at);
    }
    switch (f.letter) {
      case 's': return pad(s, f);
      case 'p': return pad(quoted(s, f.alternative), f);
      case 'c': return pad(capitalized(s), f);
      case 'C': {
        std::string out;
        std::string_view rest = s;
        while (!rest.empty()) {
          std::size_t cut = rest.find("::");
          out += capitalized(rest.substr(0, cut));
          if (cut == std::string_view::npos) break;
          out += "::";
          rest.remove_prefix(cut + 2);
        }
        return pad(out, f);
      }
      case 'u': return pad(upcase(s), f);
      case 'd': return pad(downcase(s), f);
      case 't': {
        std::size_t a = s.find_first_not_of(" \t\n\r"), b = s.find_last_not_of(" \t\n\r");
        std::string t = a == std::string::npos ? "" : s.substr(a, b - a + 1);
        return pad(f.alternative ? "\"" + t + "\"" : t, f);
      }
      default: illegal(v, f.letter, "cCudspt");
    }
  }

  std::string list(const Val& v, const Format& f, int depth, bool breaks) {
    if (std::string_view("asp").find(f.letter) == std::string_view::npos) illegal(v, f.letter, "asp");
    std::string separator = f.has_separator ? f.separator : ",";
    auto [open, close] = brackets(f.delimiter, "[]");
    std::string out;
    if (breaks) out += "\n" + std::string(static_cast<std::size_t>(depth) * 2, ' ');
    out += open;
    const FormatMap& inner = f.has_inner ? f.inner : containers();
    bool first = true;
    for (const Val& i : v.items()) {
      bool nested = f.alternative && (i.is(VK::kArray) || i.is(VK::kHash)) && i.size;
      if (!first) {
        out += separator;
        if (!f.has_separator && !nested) out += ' ';
      }
      out += render(i, inner, depth + 1, nested && !first);
      first = false;
    }
    out += close;
    return out;
  }

  std::string hash(const Val& v, const Format& f, int depth, bool breaks) {
    if (std::string_view("hasp").find(f.letter) == std::string_view::npos) illegal(v, f.letter, "hasp");
    if (f.letter == 'a') {
      Arena arena;
      std::vector<Val> items;
      for (const Pair& p : v.entries()) {
        Val both[2] = {p.key, p.value};
        items.push_back(make_array(arena, both));
      }
      return list(make_array(arena, items), f, depth, breaks);
    }
    std::string separator = f.has_separator ? f.separator : ",", arrow = f.has_separator2 ? f.separator2 : " => ";
    auto [open, close] = brackets(f.delimiter, "{}");
    std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    std::string out;
    if (breaks) out += "\n" + indent;
    out += open;
    const FormatMap& inner = f.has_inner ? f.inner : containers();
    bool first = true;
    for (const Pair& p : v.entries()) {
      if (!first) out += separator;
      if (f.alternative)
        out += "\n" + indent + "  ";
      else if (!first && !f.has_separator)
        out += ' ';
      out += render(p.key, inner, depth + 1, false) + arrow + render(p.value, inner, depth + 1, false);
      first = false;
    }
    if (f.alternative && v.size) out += "\n" + indent;
    out += close;
    return out;
  }

  static std::pair<std::string, std::string> brackets(char delimiter, std::string_view otherwise) {
    switch (delimiter) {
      case '[': return {"[", "]"};
      case '{': return {"{", "}"};
      case '(': return {"(", ")"};
      case '<': return {"<", ">"};
      case '|': return {"|", "|"};
      default: return {std::string(otherwise.substr(0, 1)), std::string(otherwise.substr(1))};
    }
  }
  static const FormatMap& containers() {
    static const FormatMap map = [] {
      FormatMap m;
      Format p;
      p.letter = 'p';
      m.push_back({plain(TK::kAny), p});
      Format d;
      d.letter = 'd';
      m.push_back({plain(TK::kInteger), d});
      return m;
    }();
    return map;
  }
};

std::string Printer::render(const Val& v, const FormatMap& map, int depth, bool breaks) {
  if (depth > 200) throw TypeError("nested too deeply");
  const Format* found = pick(map, v);
  Format f = found ? *found : Format{};
  if (!found || f.letter == 0) {
    char fallback = v.is(VK::kFloat)    ? 'f'
                    : v.is(VK::kInt)    ? 'd'
                    : v.is(VK::kArray)  ? 'a'
                    : v.is(VK::kHash)   ? 'h'
                    : v.is(VK::kBinary) ? 'B'
                                        : 's';
    f.letter = fallback;
  }
  switch (v.kind) {
    case VK::kInt:
      if (std::string_view("dxXobB").find(f.letter) != std::string_view::npos) return format_int(v.i, f);
      if (std::string_view("eEfgGaA").find(f.letter) != std::string_view::npos)
        return format_float(static_cast<double>(v.i), f);
      if (f.letter == 'c') {
        std::string s;
        utf8::append(s, static_cast<char32_t>(v.i));
        return pad(s, f);
      }
      if (f.letter == 's') return pad(f.alternative ? "\"" + std::to_string(v.i) + "\"" : std::to_string(v.i), f);
      if (f.letter == 'p') return pad(std::to_string(v.i), f);
      illegal(v, f.letter, "dxXobBeEfgGaAspc");
    case VK::kFloat:
      if (std::string_view("dxXobB").find(f.letter) != std::string_view::npos) return format_int(truncated(v.d), f);
      if (std::string_view("eEfgGaA").find(f.letter) != std::string_view::npos) return format_float(v.d, f);
      if (f.letter == 's' || f.letter == 'p') return pad(ruby_float(v.d), f);
      illegal(v, f.letter, "dxXobBeEfgGaAsp");
    case VK::kString: return string(v, f);
    case VK::kBool:
      switch (f.letter) {
        case 't': return pad(f.alternative ? (v.b ? "t" : "f") : (v.b ? "true" : "false"), f);
        case 'T': return pad(f.alternative ? (v.b ? "T" : "F") : (v.b ? "True" : "False"), f);
        case 'y': return pad(f.alternative ? (v.b ? "y" : "n") : (v.b ? "yes" : "no"), f);
        case 'Y': return pad(f.alternative ? (v.b ? "Y" : "N") : (v.b ? "Yes" : "No"), f);
        case 's':
        case 'p': return pad(v.b ? "true" : "false", f);
        default:
          if (std::string_view("dxXobB").find(f.letter) != std::string_view::npos) return format_int(v.b ? 1 : 0, f);
          if (std::string_view("eEfgGaA").find(f.letter) != std::string_view::npos) return format_float(v.b ? 1 : 0, f);
          illegal(v, f.letter, "tTyYdxXobBeEfgGaAsp");
      }
    case VK::kUndef:
      switch (f.letter) {
        case 's': return pad(f.alternative ? "\"\"" : "", f);
        case 'p': return pad(f.alternative ? "\"undef\"" : "undef", f);
        case 'n': return pad(f.alternative ? "null" : "nil", f);
        case 'u': return pad(f.alternative ? "undefined" : "undef", f);
        case 'v': return pad(f.alternative ? "-" : "n/a", f);
        case 'V': return pad(f.alternative ? "-" : "N/A", f);
        default:
          if (std::string_view("dxXobBeEfgGaA").find(f.letter) != std::string_view::npos) return pad("NaN", f);
          illegal(v, f.letter, "nudxXobBeEfgGaAvVsp");
      }
    case VK::kDefault: return pad(f.letter == 'D' ? "Default" : "default", f);
    case VK::kArray: return pad(list(v, f, depth, breaks), f);
    case VK::kHash: return pad(hash(v, f, depth, breaks), f);
    case VK::kRegex:
      if (f.letter != 's' && f.letter != 'p') illegal(v, f.letter, "sp");
      return pad(to_text(v), f);
    case VK::kType:
      if (f.letter != 's' && f.letter != 'p') illegal(v, f.letter, "sp");
      return pad(f.alternative && f.letter == 's' ? "\"" + to_text(v) + "\"" : to_text(v), f);
    case VK::kBinary:
      if (f.letter == 's') return pad(std::string(v.text()), f);
      if (f.letter == 'p') return pad("Binary('" + base64_encode(v.text()) + "')", f);
      return pad(base64_encode(v.text()), f);
    default: return pad(f.letter == 'p' && f.alternative ? "\"" + to_literal(v) + "\"" : to_text(v), f);
  }
}

}  // namespace

std::string format_value(const Val& value, const Val& format) {
  FormatMap map;
  if (!format.undefined() && !format.is(VK::kDefault)) {
    if (!format.is(VK::kString) && !format.is(VK::kHash)) throw TypeError("a format is a String or a Hash of formats");
    if (format.is(VK::kString)) {
      Arena arena;
      const Type* t = value.is(VK::kInt) || value.is(VK::kFloat) ? plain(TK::kNumeric) : plain(TK::kAny);
      map.push_back({t, parse_format(format.text())});
    } else {
      map = parse_map(format);
    }
  }
  return Printer{}.render(value, map, 0, false);
}

}  // namespace tutti::puppet
