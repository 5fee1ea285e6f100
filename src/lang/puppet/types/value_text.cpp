#include "lang/puppet/types/value_text.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "lang/puppet/text/ruby_format.h"
#include "lang/puppet/types/time.h"
#include "lang/puppet/types/type.h"

namespace tutti::puppet {

void append_value(std::string& out, const Val& v, const Notation& n, int depth) {
  auto line = [&](std::string_view start, int level) {
    out += start;
    if (start.empty()) return;
    for (int i = 0; i < level; ++i) out += n.indent;
  };
  switch (v.kind) {
    case VK::kUndef: out += n.undef; return;
    case VK::kBool: out += v.b ? n.yes : n.no; return;
    case VK::kInt: fmt::format_to(std::back_inserter(out), "{}", v.i); return;
    case VK::kFloat: out += ruby_float(v.d); return;
    case VK::kString: n.string(out, v.text()); return;
    case VK::kArray:
      out += '[';
      for (u32 i = 0; i < v.size; ++i) {
        if (i) out += n.between;
        line(n.list_line, depth + 1);
        append_value(out, v.list[i], n, depth + 1);
      }
      if (v.size == 0) out += n.list_line;  // as Ruby's generator writes it
      line(n.list_line, depth);
      out += ']';
      return;
    case VK::kHash: {
      out += '{';
      bool first = true;
      for (const Pair& p : v.entries()) {
        if (!first) out += n.between;
        first = false;
        line(n.map_line, depth + 1);
        if (n.text_keys)
          n.string(out, to_text(p.key));
        else
          append_value(out, p.key, n, depth + 1);
        out += n.arrow;
        append_value(out, p.value, n, depth + 1);
      }
      line(n.map_line, depth);
      out += '}';
      return;
    }
    default: n.other(out, v);
  }
}

namespace {

// What is neither data nor a container, as interpolation shows it.
void append_other(std::string& out, const Val& v) {
  switch (v.kind) {
    case VK::kDefault: out += "default"; return;
    case VK::kRegex:
      out += '/';
      for (char c : v.text()) {
        if (c == '/') out += '\\';
        out += c;
      }
      out += '/';
      return;
    case VK::kType: out += type_text(v.t); return;
    case VK::kSensitive: out += "Sensitive [value redacted]"; return;
    case VK::kBinary: out += base64_encode(v.text()); return;
    case VK::kTimestamp: out += timestamp_text(v.i); return;
    case VK::kTimespan: out += timespan_text(v.i); return;
    case VK::kObject: out += object_text(v); return;
    case VK::kClosure: out += "lambda"; return;
    default: out += v.text();
  }
}

void append_plain(std::string& out, std::string_view s) { out += s; }

// As Puppet does it: a backslash stands for itself, also before a quote.
void append_quoted(std::string& out, std::string_view s) {
  out += '\'';
  bool escaped = false;
  for (char c : s) {
    if (c == '\'' && !escaped) out += '\\';
    escaped = c == '\\' && !escaped;
    out += c;
  }
  out += '\'';
}

void append_inspected(std::string& out, std::string_view s) {
  out += '"';
  for (std::size_t at = 0; at < s.size();) {
    std::size_t from = at;
    char32_t code = utf8::decode(s, at);
    switch (code) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\a': out += "\\a"; break;
      case '\b': out += "\\b"; break;
      case '\t': out += "\\t"; break;
      case '\n': out += "\\n"; break;
      case '\v': out += "\\v"; break;
      case '\f': out += "\\f"; break;
      case '\r': out += "\\r"; break;
      case 0x1B: out += "\\e"; break;
      case '#': {  // what would begin an interpolation
        bool begins = at < s.size() && (s[at] == '{' || s[at] == '$' || s[at] == '@');
        out += begins ? "\\#" : "#";
        break;
      }
      default:
        if (code == utf8::kInvalid) {
          fmt::format_to(std::back_inserter(out), "\\x{:02X}", static_cast<u8>(s[from]));
        } else if (code < 0x20 || (code >= 0x7F && code < 0xA0)) {
          fmt::format_to(std::back_inserter(out), "\\u{:04X}", static_cast<u32>(code));
        } else {
          out += s.substr(from, at - from);
        }
    }
  }
  out += '"';
}

void append_inspected_other(std::string& out, const Val& v) {
  if (v.is(VK::kDefault)) out += ':';
  append_other(out, v);
}

void append_json_other(std::string& out, const Val& v) {
  append_json_string(out, v.is(VK::kRegex) ? ruby_regexp_text(v.text()) : to_text(v));
}

}  // namespace

void append_json_string(std::string& out, std::string_view s) {
  out += '"';
  for (char c : s) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\f': out += "\\f"; break;
      case '\b': out += "\\b"; break;
      default:
        if (static_cast<u8>(c) < 0x20)
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<u8>(c));
        else
          out += c;
    }
  }
  out += '"';
}

void append_text(std::string& out, const Val& v) {
  static constexpr Notation kText{.undef = "", .string = append_plain, .other = append_other};
  append_value(out, v, kText);
}

std::string to_text(const Val& v) {
  std::string out;
  append_text(out, v);
  return out;
}

std::string to_literal(const Val& v) {
  static constexpr Notation kLiteral{.undef = "undef", .string = append_quoted, .other = append_other};
  std::string out;
  append_value(out, v, kLiteral);
  return out;
}

std::string ruby_inspect(const Val& v) {
  static constexpr Notation kRuby{
      .undef = "nil", .arrow = "=>", .string = append_inspected, .other = append_inspected_other};
  std::string out;
  append_value(out, v, kRuby);
  return out;
}

std::string ruby_literal(const Val& v) {
  static constexpr Notation kRuby{.undef = "nil", .string = append_inspected, .other = append_inspected_other};
  std::string out;
  append_value(out, v, kRuby);
  return out;
}

std::string ruby_regexp_text(std::string_view source) {
  std::string out = "(?-mix:";
  for (char c : source) {
    if (c == '/') out += '\\';
    out += c;
  }
  return out + ")";
}

std::string ruby_to_s(const Val& v) { return v.is(VK::kArray) || v.is(VK::kHash) ? ruby_inspect(v) : to_text(v); }

std::string python_literal(const Val& v) {
  static constexpr Notation kPython{.undef = "None",
                                    .yes = "True",
                                    .no = "False",
                                    .arrow = ": ",
                                    .string = append_inspected,
                                    .other = append_inspected_other};
  std::string out;
  append_value(out, v, kPython);
  return out;
}

std::string json_text(const Val& v, const JsonLayout& layout) {
  std::string arrow = ":" + layout.space, out;
  Notation json{.undef = "null",
                .between = ",",
                .arrow = arrow,
                .string = append_json_string,
                .other = append_json_other,
                .text_keys = true,
                .list_line = layout.list_line,
                .map_line = layout.map_line,
                .indent = layout.indent};
  append_value(out, v, json);
  return out;
}

}  // namespace tutti::puppet
