#include <fmt/format.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "format/json.h"
#include "format/xml.h"
#include "tree/path.h"

namespace tutti {
namespace {

bool xml_char(char32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0xD7FF) || (c >= 0xE000 && c <= 0xFFFD) ||
         (c >= 0x10000 && c <= 0x10FFFF);
}

// ASCII names only: what is more gets its name in an attribute.
bool plain_name(std::string_view s) {
  if (s.empty() || s == "entry" || s == "item") return false;
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (!letter(s[0]) || (s.size() >= 3 && (s[0] | 32) == 'x' && (s[1] | 32) == 'm' && (s[2] | 32) == 'l')) return false;
  for (char c : s) {
    if (!letter(c) && !(c >= '0' && c <= '9') && c != '-' && c != '.') return false;
  }
  return true;
}

class XmlWriter {
 public:
  explicit XmlWriter(Sink& sink) : sink_(sink) {}

  void document(const Value& v) {
    sink_.put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    element("tree", "", v, 0, fmt::format(" xmlns=\"{}\"", kXmlDataNamespace));
  }

 private:
  void element(std::string_view name, std::string_view key, const Value& v, std::size_t depth,
               std::string_view more = {}) {
    sink_.spaces(depth * 2);
    sink_.put('<');
    sink_.put(name);
    sink_.put(more);
    if (name == "entry") {
      bool clean = true;
      for (std::size_t at = 0; at < key.size();) clean &= xml_char(utf8::decode(key, at));
      sink_.put(clean ? " key=\"" : " key64=\"");
      text(clean ? std::string(key) : base64_encode(key), true);
      sink_.put('"');
    }
    type(v);
    if (v.size() > 0) {
      sink_.put(">\n");
      for (const Value& item : v.items()) element("item", "", item, depth + 1);
      for (const Entry& e : v.entries()) {
        std::string_view k = e.key.text();
        element(plain_name(k) ? k : "entry", k, e.value, depth + 1);
      }
      sink_.spaces(depth * 2);
    } else {
      std::string content = content_of(v);
      if (content.empty()) return sink_.put("/>\n");
      sink_.put('>');
      text(content, false);
    }
    sink_.put("</");
    sink_.put(name);
    sink_.put(">\n");
  }

  void type(const Value& v) {
    if (v.is(Kind::kString)) {
      if (!clean(v.text())) sink_.put(" type=\"string64\"");
      return;
    }
    if (v.is(Kind::kMap) && v.size() > 0) return;
    sink_.put(fmt::format(" type=\"{}\"", kind_word(v.kind())));
    if (v.is(Kind::kResource)) {
      sink_.put(" of=\"");
      text(v.tag().text(), true);
      sink_.put('"');
    }
  }

  static bool clean(std::string_view s) {
    for (std::size_t at = 0; at < s.size();) {
      if (!xml_char(utf8::decode(s, at))) return false;
    }
    return true;
  }

  static std::string content_of(const Value& v) {
    switch (v.kind()) {
      case Kind::kNull:
      case Kind::kList:
      case Kind::kMap: return {};
      case Kind::kBool: return v.as_bool() ? "true" : "false";
      case Kind::kInt:
      case Kind::kDecimal: return v.number_text();
      case Kind::kBytes: return base64_encode(v.text());
      default: return clean(v.text()) ? std::string(v.text()) : base64_encode(v.text());
    }
  }

  // Line ends and tabs that a reader would change are written as numbers.
  void text(std::string_view s, bool attribute) {
    for (char c : s) {
      switch (c) {
        case '<': sink_.put("&lt;"); break;
        case '>': sink_.put("&gt;"); break;
        case '&': sink_.put("&amp;"); break;
        case '"': sink_.put(attribute ? "&quot;" : "\""); break;
        case '\r': sink_.put("&#13;"); break;
        case '\n': sink_.put(attribute ? "&#10;" : "\n"); break;
        case '\t': sink_.put(attribute ? "&#9;" : "\t"); break;
        default: sink_.put(c);
      }
    }
  }

  Sink& sink_;
};

}  // namespace

bool write_xml(Session&, const Value& value, Sink& sink) {
  XmlWriter(sink).document(value);
  return true;
}

}  // namespace tutti
