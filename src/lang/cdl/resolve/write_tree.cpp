#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/utf8.h"
#include "lang/cdl/resolve/system.h"
#include "lang/cdl/syntax/path.h"
#include "lang/common/links.h"

// Any tree as a CDL document: a map is a property list, a list repeats its element, a number or boolean has its
// cdl:type, a lazy value is a lazy property or a reference to one. What these cannot say is said by an attribute of our
// own (kKindNamespace), so that the document read back is the same tree: an empty map, list or text, a list of fewer
// than two items or of lists or that is referred to, bytes, a reference that stays one, the words of a lazy value of
// another language and what else SmartFrog says of a component. Names that XML does not know are
// written as SQL/XML does, with _xHHHH_ for what cannot stand in them.
namespace tutti::cdl {
namespace {

// XML 1.0 has no way to write these.
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r'; }
bool has_controls(std::string_view text) { return std::any_of(text.begin(), text.end(), is_control); }

void escape(std::string& out, std::string_view text) {
  for (char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\r': out += "&#13;"; break;
      default:
        if (is_control(c)) {
          out += "\xEF\xBF\xBD";
        } else {
          out += c;
        }
    }
  }
}

// The text of an element marked as `escaped`.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (is_control(c)) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string xml_name(std::string_view key) {
  if (key.empty()) return std::string(kEmptyName);
  if (is_ncname(key) && key.find("_x") == std::string_view::npos) return std::string(key);
  std::string out;
  for (std::size_t at = 0; at < key.size();) {
    std::size_t from = at;
    char32_t c = utf8::decode(key, at);
    std::string letter(key.substr(from, at - from));
    bool escapes = letter == "_" && key.substr(at).starts_with('x');  // it would be taken for what is written below
    if (c != utf8::kInvalid && !escapes && is_ncname(out.empty() ? letter : "a" + letter)) {
      out += letter;
    } else {
      u32 code = static_cast<u32>(c);
      out += code > 0xFFFF ? fmt::format("_x{:08X}_", code) : fmt::format("_x{:04X}_", code);
    }
  }
  return out;
}

class TreeWriter {
 public:
  TreeWriter(bool compact, bool reveal) : compact_(compact), reveal_(reveal) {}

  std::string run(const Value& root) {
    std::string body;
    if (root.is(Kind::kMap)) {
      maps_.push_back(&root);
      levels_.push_back(0);
      find_targets(root);
      for (const Entry& e : root.entries()) {
        if (e.field == Field::kPlain) property(body, e.key.text(), e.value, 2, tags_of(root, e.key));
      }
    } else {
      property(body, "value", root, 2, {});
    }
    std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cdl:cdl xmlns:cdl=\"";
    out += kNamespace;
    out += '"';
    if (typed_) out += fmt::format(" xmlns:xsd=\"{}\"", kSchemaNamespace);
    if (kinds_) out += fmt::format(" xmlns:k=\"{}\"", kKindNamespace);
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

  std::string kind(std::string_view name) {
    kinds_ = true;
    return fmt::format(" k:kind=\"{}\"", name);
  }

  std::string mark(std::string_view name, std::string_view value) {
    kinds_ = true;
    std::string out = fmt::format(" k:{}=\"", name);
    escape(out, value);
    return out += '"';
  }

  std::string number_type(const Value& v) {
    std::string_view tag = v.tag().text();
    if (v.is(Kind::kInt)) return typed(tag == "LONG" ? "long" : "integer");
    if (tag == "FLOAT") return typed("float");
    return typed(tag == "DOUBLE" || v.number_text().find_first_of("eE") != std::string::npos ? "double" : "decimal");
  }

  // The tags of an attribute of a SmartFrog component.
  std::string tags_of(const Value& map, Symbol key) {
    std::string names;
    for (const Entry& e : map.entries()) {
      if (e.field != Field::kHidden || e.key != tags_key()) continue;
      if (const Entry* tags = e.value.find(key)) {
        for (const Value& t : tags->value.items()) (names += names.empty() ? "" : " ") += xml_name(t.text());
      }
    }
    return names.empty() ? names : mark("tags", names);
  }

  // Whether a list must be an element of its own, with its items in it.
  bool wrapped(const Value& list) const {
    return list.size() < 2 || targets_.count(&list) != 0 ||
           std::any_of(list.items().begin(), list.items().end(),
                       [](const Value& x) { return x.is(Kind::kList) || x.is(Kind::kReference); });
  }

  // What elements and their text cannot say of a value.
  std::string kind_of(const Value& v) {
    if (v.is(Kind::kMap) && v.size() == 0) return kind("map");
    if (v.is(Kind::kList)) return kind("list");
    if (v.is(Kind::kString) && v.text().find_first_not_of(" \t\r\n") == std::string_view::npos) return kind("text");
    if (v.is(Kind::kString) && has_controls(v.text())) return kind("escaped");
    if (v.is(Kind::kBytes)) return kind("bytes");
    if (v.is(Kind::kReference) && !is_link(v)) return kind(v.tag().text() == "LINK" ? "link" : "reference");
    return {};
  }

  // The lists that links lead to: repeated elements could not be told apart there.
  void find_targets(const Value& map) {
    Budget::Level nesting(budget_);
    for (const Entry& e : map.entries()) {
      if (e.value.is(Kind::kMap)) {
        maps_.push_back(&e.value);
        find_targets(e.value);
        maps_.pop_back();
      } else if (is_link(e.value)) {
        const Value* target = follow(maps_, link_path(e.value.text()), 100);
        if (target && target->is(Kind::kList)) targets_.insert(target);
      }
    }
  }

  // `tags`: the attribute that holds those that SmartFrog gave it, or nothing.
  void property(std::string& out, std::string_view key, const Value& v, std::size_t depth, std::string_view tags,
                bool item = false) {
    if (v.is(Kind::kList) && !item && !wrapped(v)) {
      for (const Value& x : v.items()) property(out, key, x, depth, tags);
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
      case Kind::kDecimal:
        attributes = number_type(v);
        text = v.number_text();
        break;
      case Kind::kLazy: attributes = is_link(v) ? lazy_link(v) : lazy(v.text()); break;
      case Kind::kBytes:
        attributes = typed("hexBinary") + kind_of(v);
        for (unsigned char c : v.text()) text += fmt::format("{:02X}", c);
        break;
      case Kind::kReference:
        attributes = is_link(v) ? link(v) : kind_of(v);
        if (!is_link(v)) text = v.text();
        break;
      case Kind::kNull: break;
      case Kind::kMap:
        attributes = kind_of(v);
        if (v.tag() == data_tag()) attributes += mark("data", "true");
        break;
      case Kind::kList: attributes = kind_of(v); break;
      case Kind::kString:
        attributes = kind_of(v);
        text = has_controls(v.text()) ? escaped(v.text()) : std::string(v.text());
        break;
      case Kind::kResource: text = fmt::format("{}[{}]", v.tag().text(), v.text()); break;
      default: text = v.text(); break;
    }
    if (v.secret()) {
      secret_ = true;
      attributes += " s:secret=\"true\"";
      if (!reveal_) text = "(secret)";
    }
    line(out, depth);
    out += fmt::format("<{}{}{}", name, attributes, tags);
    if (v.is(Kind::kMap) && v.size() > 0) {
      out += '>';
      maps_.push_back(&v);
      levels_.push_back(path_.size());
      for (const Entry& e : v.entries()) {
        if (e.field == Field::kPlain) property(out, e.key.text(), e.value, depth + 1, tags_of(v, e.key));
      }
      maps_.pop_back();
      levels_.pop_back();
      line(out, depth);
      out += fmt::format("</{}>", name);
    } else if (v.is(Kind::kList) && v.size() > 0) {
      out += '>';
      for (const Value& x : v.items()) property(out, "item", x, depth + 1, {}, true);
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
    std::string type;
    if (target && target->is(Kind::kBool)) type = typed("boolean");
    if (target && (target->is(Kind::kInt) || target->is(Kind::kDecimal))) type = number_type(*target);
    if (target && target->is(Kind::kBytes)) type = typed("hexBinary");
    if (target) type += kind_of(*target);
    std::string way = p.from_root ? "/" : "";
    // Ways go from map to map; between them there may be the element of a list.
    std::size_t up = p.up;
    if (!p.from_root && p.up < levels_.size()) up = path_.size() - 1 - levels_[levels_.size() - 1 - p.up];
    for (std::size_t i = 0; i < up; i++) way += "../";
    for (Symbol name : p.names) way += xml_name(name.text()) + "/";
    if (way.size() > 1) way.pop_back();
    return fmt::format("{} cdl:ref=\"{}\"", type, way);
  }

  // A lazy link to itself is a lazy property; what refers to one is open without being lazy itself.
  std::string lazy_link(const Value& v) {
    LinkPath p = link_path(v.text());
    std::vector<const Value*> maps = maps_;
    const Value* target = next(maps, p);
    if (target == &v) return " cdl:lazy=\"true\"";
    LinkPath onward = target && target->is(Kind::kLazy) && is_link(*target) ? link_path(target->text()) : LinkPath();
    bool open = !onward.names.empty() && next(maps, onward) == target;
    return link(v) + (open ? "" : " cdl:lazy=\"true\"");
  }

  // Where a link leads; `maps` are those around it, the root first, and become those around what is found.
  static const Value* next(std::vector<const Value*>& maps, const LinkPath& path) {
    if (maps.empty() || path.names.empty() || (!path.from_root && path.up >= maps.size())) return nullptr;
    maps.resize(path.from_root ? 1 : maps.size() - path.up);
    const Value* at = maps.back();
    for (Symbol name : path.names) {
      const Entry* e = at->find(name);
      if (!e) return nullptr;
      at = &e->value;
      if (at->is(Kind::kMap)) maps.push_back(at);
    }
    return at;
  }

  // What a link leads to in the end, through other links.
  static const Value* follow(std::vector<const Value*> maps, LinkPath path, int most) {
    for (;; most--) {
      const Value* at = next(maps, path);
      if (!at || !is_link(*at)) return at;
      if (most == 0) return nullptr;
      path = link_path(at->text());
    }
  }

  // A lazy value that waits for itself is a lazy property; one that waits for another is a reference to it. Other
  // languages' lazy values have words of their own for it, of which no path can be made: they are lazy properties
  // that keep the words.
  std::string lazy(std::string_view waits_for) {
    std::string own;
    for (const std::string& step : path_) own += (own.empty() ? "" : "/") + step;
    bool path =
        waits_for == own || follow({maps_.begin(), maps_.begin() + 1}, link_path(fmt::format("/{}", waits_for)), 0);
    if (!path) return " cdl:lazy=\"true\"" + mark("lazy", waits_for);
    if (waits_for == own) return " cdl:lazy=\"true\"";
    return fmt::format(" cdl:ref=\"/{}\"", waits_for);
  }

  bool compact_, reveal_;
  bool typed_ = false, secret_ = false, kinds_ = false;
  Budget budget_;
  std::vector<std::string> path_;
  std::vector<const Value*> maps_;   // around what is being written, the root first
  std::vector<std::size_t> levels_;  // of each of them: how many elements it is in
  std::set<const Value*> targets_;   // lists that something refers to
};

}  // namespace

std::string tree_to_cdl(const Value& value, bool compact, bool reveal) {
  return TreeWriter(compact, reveal).run(value);
}

}  // namespace tutti::cdl
