#include <charconv>

#include "base/base64.h"
#include "base/scan.h"
#include "base/utf8.h"
#include "format/json.h"

namespace tutti {
namespace {

void escape(u8 c, Sink& sink) {
  switch (c) {
    case '"': return sink.put("\\\"");
    case '\\': return sink.put("\\\\");
    case '\n': return sink.put("\\n");
    case '\r': return sink.put("\\r");
    case '\t': return sink.put("\\t");
    case '\b': return sink.put("\\b");
    case '\f': return sink.put("\\f");
    default: {
      constexpr std::string_view kHex = "0123456789abcdef";
      sink.put("\\u00");
      sink.put(kHex[c >> 4]);
      sink.put(kHex[c & 15]);
    }
  }
}

// As Go's encoder does for pages: <, > and & and the two line ends of JavaScript as numbers.
void html_string(std::string_view text, Sink& sink) {
  for (std::size_t i = 0; i < text.size(); i++) {
    u8 c = static_cast<u8>(text[i]);
    std::string_view three = text.substr(i, 3);
    if (c == '<' || c == '>' || c == '&') {
      sink.put(c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026");
    } else if (three == "\u2028" || three == "\u2029") {
      sink.put(three == "\u2028" ? "\\u2028" : "\\u2029");
      i += 2;
    } else if (c < 0x20 || c == '"' || c == '\\') {
      escape(c, sink);
    } else {
      sink.put(text[i]);
    }
  }
}

class JsonWriter {
 public:
  JsonWriter(const JsonStyle& style, Sink& sink) : style_(style), sink_(sink) {}

  void value(const Value& v, std::size_t depth) {
    switch (v.kind()) {
      case Kind::kNull: return sink_.put("null");
      case Kind::kBool: return sink_.put(v.as_bool() ? "true" : "false");
      case Kind::kInt:
        if (v.fits_i64()) {
          char digits[24];
          auto end = std::to_chars(digits, digits + sizeof digits, v.as_i64()).ptr;
          return sink_.put({digits, static_cast<std::size_t>(end - digits)});
        }
        return sink_.put(v.text());
      case Kind::kDecimal: return sink_.put(v.text());
      case Kind::kString: return write_json_string(v.text(), style_.escape_html, sink_);
      case Kind::kBytes: return write_json_string(base64_encode(v.text()), false, sink_);
      case Kind::kList: return list(v, depth);
      case Kind::kMap: return map(v, depth);
      case Kind::kReference: return wrapped("$ref", v.text());
      case Kind::kLazy: return wrapped("$lazy", v.text());
      case Kind::kOpen: return wrapped("$open", v.text());
      case Kind::kError: return wrapped("$error", v.text());
      case Kind::kResource:
        sink_.put("{\"$resource\":{\"type\":");
        write_json_string(v.tag().text(), style_.escape_html, sink_);
        sink_.put(",\"title\":");
        write_json_string(v.text(), style_.escape_html, sink_);
        return sink_.put("}}");
    }
  }

 private:
  void line(std::size_t depth) {
    if (style_.indent == 0) return;
    sink_.put('\n');
    sink_.spaces(depth * style_.indent);
  }

  void list(const Value& v, std::size_t depth) {
    if (v.size() == 0) return sink_.put("[]");
    sink_.put('[');
    bool first = true;
    for (const Value& item : v.items()) {
      if (!first) sink_.put(',');
      first = false;
      line(depth + 1);
      value(item, depth + 1);
    }
    line(depth);
    sink_.put(']');
  }

  void map(const Value& v, std::size_t depth) {
    if (v.size() == 0) return sink_.put("{}");
    sink_.put('{');
    bool first = true;
    for (const Entry& e : v.entries()) {
      if (!first) sink_.put(',');
      first = false;
      line(depth + 1);
      write_json_string(e.key.text(), style_.escape_html, sink_);
      sink_.put(style_.indent == 0 ? ":" : ": ");
      value(e.value, depth + 1);
    }
    line(depth);
    sink_.put('}');
  }

  void wrapped(std::string_view what, std::string_view text) {
    sink_.put("{\"");
    sink_.put(what);
    sink_.put("\":");
    write_json_string(text, style_.escape_html, sink_);
    sink_.put('}');
  }

  const JsonStyle& style_;
  Sink& sink_;
};

}  // namespace

void write_json_string(std::string_view text, bool escape_html, Sink& sink) {
  sink.put('"');
  if (escape_html) {
    html_string(text, sink);
  } else {
    while (!text.empty()) {
      std::size_t n = plain_run(text);
      sink.put(text.substr(0, n));
      if (n == text.size()) break;
      escape(static_cast<u8>(text[n]), sink);
      text.remove_prefix(n + 1);
    }
  }
  sink.put('"');
}

void write_json(const Value& value, const JsonStyle& style, Sink& sink) {
  JsonWriter(style, sink).value(value, 0);
  sink.put('\n');
}

}  // namespace tutti
