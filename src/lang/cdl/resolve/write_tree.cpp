#include <fmt/format.h>

#include "lang/cdl/resolve/system.h"
#include "lang/cdl/syntax/path.h"
#include "lang/common/links.h"

// Any tree as a CDL document: a map is a property list, a list repeats its element, a number or boolean has its
// cdl:type, a lazy value is a lazy property or a reference to one. Names that XML does not know are written as SQL/XML
// does, with _xHHHH_ for what cannot stand in them.
namespace tutti::cdl {
namespace {

void escape(std::string& out, std::string_view text) {
  for (char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\r': out += "&#13;"; break;
      default:
        // XML 1.0 has no way to write other control characters.
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') {
          out += "\xEF\xBF\xBD";
        } else {
          out += c;
        }
    }
  }
}

std::string xml_name(std::string_view key) {
  if (is_ncname(key)) return std::string(key);
  std::string out;
  for (std::size_t i = 0; i < key.size(); i++) {
    unsigned char c = static_cast<unsigned char>(key[i]);
    bool letter = std::isalpha(c) || c == '_' || c >= 0x80;
    bool fits = letter || (i > 0 && (std::isdigit(c) || c == '-' || c == '.'));
    if (fits) {
      out += key[i];
    } else {
      out += fmt::format("_x{:04X}_", c);
    }
  }
  return is_ncname(out) ? out : "_" + fmt::format("x{:04X}_", out.size());
}

class Writer {
 public:
  Writer(bool compact, bool reveal) : compact_(compact), reveal_(reveal) {}

  std::string run(const Value& root) {
    std::string body;
    if (root.is(Kind::kMap)) {
      maps_.push_back(&root);
      for (const Entry& e : root.entries()) {
        if (e.field == Field::kPlain) property(body, e.key.text(), e.value, 2);
      }
    } else {
      property(body, "value", root, 2);
    }
    std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cdl:cdl xmlns:cdl=\"";
    out += kNamespace;
    out += '"';
    if (typed_) out += fmt::format(" xmlns:xsd=\"{}\"", kSchemaNamespace);
    if (secret_) out += fmt::format(" xmlns:s=\"{}\"", kSecretNamespace);
    out += ">";
    line(out, 1);
    out += body.empty() ? "<cdl:system/>" : "<cdl:system>" + body;
    if (!body.empty()) {
      line(out, 1);
      out += "</cdl:system>";
    }
    line(out, 0);
    return out += "</cdl:cdl>\n";
  }

 private:
  void line(std::string& out, std::size_t depth) const {
    if (compact_) return;
    out += '\n';
    out.append(2 * depth, ' ');
  }

  std::string typed(std::string_view type) {
    typed_ = true;
    return fmt::format(" cdl:type=\"xsd:{}\"", type);
  }

  void property(std::string& out, std::string_view key, const Value& v, std::size_t depth) {
    if (v.is(Kind::kList)) {
      for (const Value& item : v.items()) property(out, key, item, depth);
      return;
    }
    if (out.size() > (std::size_t{1} << 30)) throw LimitError("LIMIT-OUTPUT", "the document is too large");
    std::string name = xml_name(key), attributes, text;
    path_.push_back(name);
    switch (v.kind()) {
      case Kind::kBool:
        attributes = typed("boolean");
        text = v.as_bool() ? "true" : "false";
        break;
      case Kind::kInt:
        attributes = typed("integer");
        text = v.number_text();
        break;
      case Kind::kDecimal:
        text = v.number_text();
        attributes = typed(text.find_first_of("eE") == std::string::npos ? "decimal" : "double");
        break;
      case Kind::kLazy: attributes = is_link(v) ? link(v) + " cdl:lazy=\"true\"" : lazy(v.text()); break;
      case Kind::kReference:
        if (is_link(v)) {
          attributes = link(v);
        } else {
          text = v.text();
        }
        break;
      case Kind::kNull: break;
      case Kind::kMap: break;
      case Kind::kResource: text = fmt::format("{}[{}]", v.tag().text(), v.text()); break;
      default: text = v.text(); break;
    }
    if (v.secret()) {
      secret_ = true;
      attributes += " s:secret=\"true\"";
      if (!reveal_) text = "(secret)";
    }
    line(out, depth);
    out += fmt::format("<{}{}", name, attributes);
    if (v.is(Kind::kMap) && v.size() > 0) {
      out += '>';
      maps_.push_back(&v);
      for (const Entry& e : v.entries()) {
        if (e.field == Field::kPlain) property(out, e.key.text(), e.value, depth + 1);
      }
      maps_.pop_back();
      line(out, depth);
      out += fmt::format("</{}>", name);
    } else if (!text.empty()) {
      out += '>';
      escape(out, text);
      out += fmt::format("</{}>", name);
    } else {
      out += "/>";
    }
    path_.pop_back();
  }

  // A reference that another language has kept for us: its way begins where that of a cdl:ref does.
  // The type is written too, because a reference takes the text of what it refers to and not its type.
  std::string link(const Value& v) {
    LinkPath p = link_path(v.text());
    const Value* target = follow(maps_, p, 100);
    std::string type = !target                   ? ""
                       : target->is(Kind::kBool) ? typed("boolean")
                       : target->is(Kind::kInt)  ? typed("integer")
                                                 : "";
    if (target && target->is(Kind::kDecimal))
      type = typed(target->number_text().find_first_of("eE") == std::string::npos ? "decimal" : "double");
    std::string way = p.from_root ? "/" : "";
    for (std::size_t i = 0; i < p.up; i++) way += "../";
    for (Symbol name : p.names) way += xml_name(name.text()) + "/";
    if (way.size() > 1) way.pop_back();
    return fmt::format("{} cdl:ref=\"{}\"", type, way);
  }

  // What a link leads to, through other links; `maps` are those around it, the root first.
  static const Value* follow(std::vector<const Value*> maps, const LinkPath& path, int most) {
    if (maps.empty() || path.names.empty() || (!path.from_root && path.up >= maps.size())) return nullptr;
    maps.resize(path.from_root ? 1 : maps.size() - path.up);
    const Value* at = maps.back();
    for (Symbol name : path.names) {
      const Entry* e = at->find(name);
      if (!e) return nullptr;
      at = &e->value;
      if (at->is(Kind::kMap)) maps.push_back(at);
    }
    if (!is_link(*at)) return at;
    return most > 0 ? follow(std::move(maps), link_path(at->text()), most - 1) : nullptr;
  }

  // A lazy value that waits for itself is a lazy property; one that waits for another is a reference to it. Other
  // languages' lazy values have words of their own for it, of which no path can be made: they are lazy properties.
  std::string lazy(std::string_view waits_for) const {
    std::string own;
    for (const std::string& step : path_) own += (own.empty() ? "" : "/") + step;
    bool path = !waits_for.empty() && waits_for.find_first_of(" :\"[]{}()") == std::string_view::npos;
    if (!path || waits_for == own) return " cdl:lazy=\"true\"";
    return fmt::format(" cdl:ref=\"/{}\"", waits_for);
  }

  bool compact_, reveal_;
  bool typed_ = false, secret_ = false;
  std::vector<std::string> path_;
  std::vector<const Value*> maps_;  // around what is being written, the root first
};

}  // namespace

std::string tree_to_cdl(const Value& value, bool compact, bool reveal) { return Writer(compact, reveal).run(value); }

}  // namespace tutti::cdl
