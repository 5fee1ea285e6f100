#include "lang/puppet/types/string_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/base64.h"
#include "base/utf8.h"
#include "lang/puppet/text/ruby_base64.h"
#include "lang/puppet/text/ruby_format.h"
#include "lang/puppet/types/time.h"
#include "lang/puppet/types/value_text.h"

namespace tutti::puppet {
namespace {

struct TypedFormat;
using FormatMap = std::vector<TypedFormat>;

struct Format {
  char letter = 's';
  bool alternative = false, left = false, zero = false, plus = false, space = false;
  char delimiter = 0;  // [ { ( < |
  std::optional<int> width, precision;
  std::optional<std::string> separator, separator2;
  std::optional<FormatMap> inner;  // for what is no container within this one
};
struct TypedFormat {
  const Type* type;
  Format format;
};

Format parse_format(std::string_view s) {
  Format f;
  std::size_t p = 0;
  auto bad = [&] {
    return TypeError(fmt::format("the string format '{}' is not of the form %[flags][width][.precision]letter", s));
  };
  auto once = [&](bool& flag) {
    if (flag) throw TypeError(fmt::format("the same flag can only be used once, got '{}'", s));
    flag = true;
  };
  if (s.empty() || s[p++] != '%') throw bad();
  for (; p < s.size(); ++p) {
    char c = s[p];
    if (c == '#') {
      once(f.alternative);
    } else if (c == '-') {
      once(f.left);
    } else if (c == '0') {
      once(f.zero);
    } else if (c == '+') {
      once(f.plus);
    } else if (c == ' ') {
      once(f.space);
    } else if (std::string_view("[{(<|").find(c) != std::string_view::npos) {
      if (f.delimiter) throw TypeError(fmt::format("only one of the delimiters [ {{ ( < | can be given, got '{}'", s));
      f.delimiter = c;
    } else {
      break;
    }
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
  if (!text || !text->is(VK::kString)) throw TypeError("a format of containers needs a 'format'");
  Format f = parse_format(text->text());
  if (const Val* s = v.get("separator")) f.separator = s->text();
  if (const Val* s = v.get("separator2")) f.separator2 = s->text();
  if (const Val* s = v.get("string_formats")) f.inner = parse_map(*s);
  return f;
}

FormatMap parse_map(const Val& formats) {
  FormatMap out;
  if (!formats.is(VK::kHash)) throw TypeError("a hash of types and formats is expected");
  for (const Pair& p : formats.entries()) {
    if (!p.key.is(VK::kType)) throw TypeError("the keys of string formats must be types");
    out.push_back({p.key.t, parse_one(p.value)});
  }
  return out;
}

// What is given replaces a default for the same type or a narrower one; what it leaves open stays as it was.
FormatMap merged(const FormatMap& defaults, const FormatMap& given) {
  FormatMap out;
  for (const TypedFormat& d : defaults) {
    bool hidden = std::any_of(given.begin(), given.end(), [&](const TypedFormat& g) {
      return !same_type(g.type, d.type) && assignable(g.type, d.type);
    });
    if (!hidden) out.push_back(d);
  }
  for (const TypedFormat& g : given) {
    auto old = std::find_if(out.begin(), out.end(), [&](const TypedFormat& o) { return same_type(o.type, g.type); });
    if (old == out.end()) {
      out.push_back(g);
      continue;
    }
    Format f = g.format;
    if (!f.separator) f.separator = old->format.separator;
    if (!f.separator2) f.separator2 = old->format.separator2;
    if (f.inner && old->format.inner)
      f.inner = merged(*old->format.inner, *f.inner);
    else if (!f.inner)
      f.inner = old->format.inner;
    old->format = f;
  }
  return out;
}

const FormatMap& within_containers() {
  static const FormatMap map = {{plain(TK::kAny), parse_format("%p")}};
  return map;
}

const FormatMap& default_formats() {
  static const FormatMap map = [] {
    FormatMap m;
    for (auto [kind, text] : {std::pair{TK::kFloat, "%f"}, std::pair{TK::kNumeric, "%d"}, std::pair{TK::kArray, "%a"},
                              std::pair{TK::kHash, "%h"}, std::pair{TK::kBinary, "%B"}, std::pair{TK::kAny, "%s"}})
      m.push_back({plain(kind), parse_format(text)});
    for (TypedFormat& t : m)
      if (t.type->kind == TK::kArray || t.type->kind == TK::kHash) t.format.inner = within_containers();
    return m;
  }();
  return map;
}

// The format of the most special type that the value is of.
Format pick(const FormatMap& map, const Val& v) {
  const TypedFormat* best = nullptr;
  for (const auto& entry : map)
    if (is_instance(entry.type, v) && (!best || assignable(best->type, entry.type))) best = &entry;
  return best ? best->format : Format{};
}

[[noreturn]] void illegal(const Val& v, char letter, std::string_view known) {
  Arena arena;
  std::string name = v.is(VK::kArray)  ? "Array"
                     : v.is(VK::kHash) ? "Hash"
                     : v.is(VK::kType) ? "Type"
                                       : type_text(generalize(arena, infer(arena, v, Infer::kGeneralized)));
  throw TypeError(fmt::format(
      "illegal format '{}' specified for value of {} type - expected one of the characters '{}'", letter, name, known));
}

// As sprintf takes it, which knows no delimiters.
FormatDirective directive(const Format& f, char letter) {
  if (f.delimiter) throw TypeError(fmt::format("malformed format string - %{}", f.delimiter));
  FormatDirective d;
  d.left = f.left, d.plus = f.plus, d.zero = f.zero, d.space = f.space, d.alternate = f.alternative;
  d.width = f.width;
  d.precision = f.precision;
  d.conversion = letter;
  return d;
}
// Text of which only width, precision and side count.
std::string pad(std::string_view s, const Format& f) {
  FormatDirective d;
  d.left = f.left;
  d.width = f.width;
  d.precision = f.precision;
  return format_text(d, s);
}

bool one_of(char letter, std::string_view letters) { return letters.find(letter) != std::string_view::npos; }
constexpr std::string_view kIntegers = "dxXobB", kReals = "eEfgGaA";

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

// How containers are laid out: by how much, whether this one is the first in its container, whether lines are broken.
struct Indent {
  int level = 0;
  bool first = true, on = false;
  bool breaks() const { return on && level > 0 && !first; }
  std::string padding() const { return std::string(static_cast<std::size_t>(level) * 2, ' '); }
};

bool is_container(const Val& v) { return v.is(VK::kArray) || v.is(VK::kHash); }

struct Printer {
  std::string render(const Val& v, const FormatMap& map, Indent indent);

  std::string integer(const Val& v, i64 i, const Format& f) {
    if (one_of(f.letter, kIntegers) || f.letter == 'p') return format_integer(directive(f, f.letter), i);
    if (one_of(f.letter, kReals)) return format_real(directive(f, f.letter), static_cast<double>(i));
    if (f.letter == 'c') {
      std::string s;
      utf8::append(s, static_cast<char32_t>(i));
      return format_text(directive(f, 's'), f.alternative ? "\"" + s + "\"" : s);
    }
    if (f.letter == 's')
      return format_text(directive(f, 's'), f.alternative ? fmt::format("\"{}\"", i) : std::to_string(i));
    illegal(v, f.letter, "dxXobBeEfgGaAspc");
  }

  std::string real(const Val& v, double d, const Format& f) {
    if (one_of(f.letter, kIntegers)) {
      // Integers of Ruby have no end.
      if (std::fabs(d) >= 9.2e18) {
        if (f.letter != 'd') throw TypeError(fmt::format("{} does not fit a 64-bit integer", ruby_float(d)));
        return format_huge(directive(f, 's'), d);
      }
      return format_integer(directive(f, f.letter), truncated(d));
    }
    if (one_of(f.letter, kReals)) return format_real(directive(f, f.letter), d);
    if (f.letter == 'p') return format_text(directive(f, 'p'), ruby_float(d));
    if (f.letter == 's')
      return format_text(directive(f, 's'), f.alternative ? "\"" + ruby_float(d) + "\"" : ruby_float(d));
    illegal(v, f.letter, "dxXobBeEfgGaAsp");
  }

  std::string string(const Val& v, const Format& f) {
    auto changed = [&](const std::string& s) {
      return f.alternative ? pad(quoted(s, false), f) : format_text(directive(f, 's'), s);
    };
    std::string s(v.text());
    switch (f.letter) {
      case 's': return format_text(directive(f, 's'), s);
      case 'p': return pad(quoted(s, f.alternative), f);
      case 'c': return changed(capitalized(s));
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
        return changed(out);
      }
      case 'u': return changed(upcase(s));
      case 'd': return changed(downcase(s));
      case 't': {
        std::size_t a = s.find_first_not_of(" \t\n\v\f\r"),
                    b = s.find_last_not_of(std::string_view(" \t\n\v\f\r\0", 7));
        return changed(a == std::string::npos ? "" : s.substr(a, b - a + 1));
      }
      default: illegal(v, f.letter, "cCudspt");
    }
  }

  std::string list(const Val& v, const FormatMap& map, Indent indent) {
    Format f = pick(map, v);
    if (!one_of(f.letter, "asp")) illegal(v, f.letter, "asp");
    std::string separator = f.separator.value_or(", ");
    auto [open, close] = brackets(f, "[]");
    const FormatMap& inner = f.inner ? *f.inner : within_containers();
    indent.on = f.alternative || indent.on;
    std::string out;
    if (indent.breaks()) out += "\n" + indent.padding();
    out += open;
    Indent child{indent.level + 1, false, f.alternative};
    std::vector<std::string> texts;
    for (const Val& i : v.items()) texts.push_back(render(i, is_container(i) ? map : inner, child));
    // With a width, lines are broken where those between containers would be wider together.
    bool wide = false;
    if (f.alternative && f.width) {
      std::size_t run = 0;
      for (u32 n = 0; n < v.size; ++n) {
        run = is_container(v.list[n]) ? 0 : run + utf8::length(texts[n]);
        wide = wide || run > static_cast<std::size_t>(*f.width);
      }
    }
    auto strip = [&] {
      while (!out.empty() && std::isspace(static_cast<unsigned char>(out.back()))) out.pop_back();
    };
    for (u32 n = 0; n < v.size; ++n) {
      bool container = is_container(v.list[n]);
      if (n == 0) {
        if (wide && !container) out += ' ';
      } else {
        out += separator;
        if ((wide && !container) || (f.alternative && is_container(v.list[n - 1]) && !container)) {
          if (out.back() != '\n') strip();
          out += "\n" + child.padding();
        }
      }
      if (!out.empty() && out.back() == ' ' && texts[n].starts_with('\n')) strip();
      out += texts[n];
    }
    return out + close;
  }

  std::string hash(const Val& v, const FormatMap& map, Indent indent) {
    Format f = pick(map, v);
    if (!one_of(f.letter, "hasp")) illegal(v, f.letter, "hasp");
    if (f.letter == 'a') {
      Arena arena;
      std::vector<Val> items;
      for (const Pair& p : v.entries()) {
        Val both[2] = {p.key, p.value};
        items.push_back(make_array(arena, both));
      }
      return list(make_array(arena, items), map, indent);
    }
    std::string separator = f.separator.value_or(", "), arrow = f.separator2.value_or(" => ");
    if (f.alternative) {
      if (!separator.ends_with('\n'))
        while (!separator.empty() && std::isspace(static_cast<unsigned char>(separator.back()))) separator.pop_back();
      separator += '\n';
    }
    auto [open, close] = brackets(f, "{}");
    const FormatMap& inner = f.inner ? *f.inner : within_containers();
    indent.on = f.alternative || indent.on;
    std::string out;
    if (indent.breaks()) out += "\n" + indent.padding();
    Indent child{indent.level + 1, true, false};
    out += open;
    if (f.alternative) out += '\n';
    bool first = true;
    for (const Pair& p : v.entries()) {
      if (!first) out += separator;
      first = false;
      if (f.alternative) out += child.padding();
      out += render(p.key, is_container(p.key) ? map : inner, child) + arrow;
      out += render(p.value, is_container(p.value) ? map : inner, child);
    }
    if (f.alternative) out += "\n" + indent.padding();
    return out + close;
  }

  std::string binary(const Val& v, const Format& f) {
    std::string text;
    switch (f.letter) {
      case 's': text = v.text(); break;
      case 'p': return "Binary(\"" + format_text(directive(f, 's'), base64_encode(v.text())) + "\")";
      case 'b': text = ruby_base64_lines(v.text()); break;
      case 'B': text = base64_encode(v.text()); break;
      case 'u':
        text = base64_encode(v.text());
        std::replace(text.begin(), text.end(), '+', '-');
        std::replace(text.begin(), text.end(), '/', '_');
        break;
      case 't': text = "Binary"; break;
      case 'T': text = "BINARY"; break;
      default: illegal(v, f.letter, "bButTsp");
    }
    return format_text(directive(f, 's'), f.alternative ? ruby_inspect(Val::string(text)) : text);
  }

  static std::pair<std::string, std::string> brackets(const Format& f, std::string_view otherwise) {
    switch (f.delimiter) {
      case '[': return {"[", "]"};
      case '{': return {"{", "}"};
      case '(': return {"(", ")"};
      case '<': return {"<", ">"};
      case '|': return {"|", "|"};
      default: break;
    }
    if (f.space) return {"", ""};
    return {std::string(otherwise.substr(0, 1)), std::string(otherwise.substr(1))};
  }
};

std::string Printer::render(const Val& v, const FormatMap& map, Indent indent) {
  if (indent.level > 200) throw TypeError("nested too deeply");
  if (v.is(VK::kArray)) return list(v, map, indent);
  if (v.is(VK::kHash)) return hash(v, map, indent);
  Format f = pick(map, v);
  switch (v.kind) {
    case VK::kInt: return integer(v, v.i, f);
    case VK::kFloat: return real(v, v.d, f);
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
          if (one_of(f.letter, kIntegers)) return integer(v, v.b ? 1 : 0, f);
          if (one_of(f.letter, kReals)) return real(v, v.b ? 1 : 0, f);
          illegal(v, f.letter, "tTyYdxXobBeEfgGaAsp");
      }
    case VK::kUndef:
      switch (f.letter) {
        case 's': return pad(f.alternative ? "\"\"" : "", f);
        case 'p': return pad(f.alternative ? "\"undef\"" : "undef", f);
        case 'n': return pad(f.alternative ? "null" : "nil", f);
        case 'u': return pad(f.alternative ? "undefined" : "undef", f);
        case 'v': return pad("n/a", f);
        case 'V': return pad("N/A", f);
        default:
          if (one_of(f.letter, kIntegers) || one_of(f.letter, kReals)) return pad("NaN", f);
          illegal(v, f.letter, "nudxXobBeEfgGaAvVsp");
      }
    case VK::kDefault:
      if (!one_of(f.letter, "dDsp")) illegal(v, f.letter, "dDsp");
      return pad(fmt::format("{0}{1}{0}", f.alternative ? "\"" : "", f.letter == 'D' ? "Default" : "default"), f);
    case VK::kRegex:
      if (f.letter == 'p') return format_text(directive(f, 's'), to_text(v));
      if (f.letter != 's') illegal(v, f.letter, "sp");
      return format_text(directive(f, 's'), f.alternative ? quoted(v.text(), false) : std::string(v.text()));
    case VK::kType:
      if (f.letter != 's' && f.letter != 'p') illegal(v, f.letter, "sp");
      return format_text(directive(f, 's'), f.alternative && f.letter == 's' ? "\"" + to_text(v) + "\"" : to_text(v));
    case VK::kBinary: return binary(v, f);
    case VK::kTimespan:
    case VK::kTimestamp:
      if (one_of(f.letter, kIntegers)) return format_integer(directive(f, f.letter), floor_seconds(v.i));
      if (one_of(f.letter, kReals)) return format_real(directive(f, f.letter), seconds_of(v.i));
      [[fallthrough]];
    case VK::kSemVer:
    case VK::kSemVerRange:
    case VK::kSensitive:
      // Ruby's own format takes these.
      if (f.letter != 's' && f.letter != 'p') throw TypeError(fmt::format("malformed format string - %{}", f.letter));
      return format_text(directive(f, 's'), f.letter == 'p' ? to_literal(v) : to_text(v));
    default: return pad(f.letter == 'p' && f.alternative ? "\"" + to_literal(v) + "\"" : to_text(v), f);
  }
}

}  // namespace

std::string format_value(const Val& value, const Val& format) {
  FormatMap given;
  if (format.is(VK::kString)) {
    const Type* type = plain(value.is(VK::kArray) ? TK::kArray : value.is(VK::kHash) ? TK::kHash : TK::kAny);
    given.push_back({type, parse_format(format.text())});
  } else if (!format.undefined() && !format.is(VK::kDefault)) {
    if (!format.is(VK::kHash)) throw TypeError("a format is a String or a Hash of formats");
    given = parse_map(format);
  }
  return Printer{}.render(value, merged(default_formats(), given), {});
}

}  // namespace tutti::puppet
