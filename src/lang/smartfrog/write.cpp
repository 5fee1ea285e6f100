#include "lang/smartfrog/write.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/common/links.h"
#include "lang/smartfrog/eval/encode.h"
#include "lang/smartfrog/syntax/parser.h"
#include "tree/path.h"

namespace tutti::smartfrog {
namespace {

constexpr std::string_view kReserved[] = {
    "APPLY", "ASSERT",       "ATTRIB", "CONSTANT",  "DATA", "ELSE", "ENDSWITCH", "ENVPROPERTY", "FI",      "HERE",
    "HOST",  "IENVPROPERTY", "IF",     "IPROPERTY", "LAZY", "NULL", "OPTIONAL",  "PARENT",      "PROCESS", "PROPERTY",
    "ROOT",  "SWITCH",       "TBD",    "THEN",      "THIS", "VAR",  "extends",   "false",       "true"};

bool plain_name(std::string_view s) {
  if (s.empty() || std::find(std::begin(kReserved), std::end(kReserved), s) != std::end(kReserved)) return false;
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; };
  if (!letter(s[0])) return false;
  for (char c : s)
    if (!letter(c) && !(c >= '0' && c <= '9') && std::string_view(".-+@#~%^&").find(c) == std::string_view::npos)
      return false;
  return true;
}

class Writer {
 public:
  Writer(Session& session, bool reveal) : session_(session), reveal_(reveal) {}

  std::optional<std::string> write(const Value& root) {
    if (!root.is(Kind::kMap)) {
      session_.diagnostics.error("SF-WRITE", session_.origins.nearest(root.origin()),
                                 "sfConfig must be a map, and this is not one");
      return std::nullopt;
    }
    out_ = "sfConfig ";
    component(root);
    out_ += '\n';
    return ok_ ? std::optional<std::string>(std::move(out_)) : std::nullopt;
  }

 private:
  void string(std::string_view s) {
    out_ += '"';
    for (char c : s) {
      switch (c) {
        case '"': out_ += "\\\""; break;
        case '\\': out_ += "\\\\"; break;
        case '\n': out_ += "\\n"; break;
        case '\t': out_ += "\\t"; break;
        case '\r': out_ += "\\r"; break;
        case '\b': out_ += "\\b"; break;
        case '\f': out_ += "\\f"; break;
        default:
          if (static_cast<unsigned char>(c) < 0x20)
            out_ += fmt::format("\\{:03o}", c);
          else
            out_ += c;
      }
    }
    out_ += '"';
  }

  void name(std::string_view s) {
    if (plain_name(s))
      out_ += s;
    else
      string(s);
  }

  void component(const Value& v) {
    Budget::Level level(session_.budget);
    out_ += v.tag() == data_tag() ? "extends DATA {" : "extends {";
    const Value* tags = nullptr;
    for (const Entry& e : v.entries())
      if (e.key == tags_key() && e.field == Field::kHidden) tags = &e.value;
    bool any = false;
    depth_++;
    for (const Entry& e : v.entries()) {
      if (e.field != Field::kPlain && e.field != Field::kDefinition) continue;
      any = true;
      out_ += '\n';
      out_.append(depth_ * 2, ' ');
      const Entry* own = tags ? tags->find(e.key) : nullptr;
      std::vector<std::string_view> names;
      if (own)
        for (const Value& t : own->value.items()) names.push_back(t.text());
      std::string_view secret = secret_tag().text();
      if (e.value.secret() && std::find(names.begin(), names.end(), secret) == names.end()) names.push_back(secret);
      for (std::size_t i = 0; i < names.size(); i++) {
        out_ += i ? ", " : "[";
        name(names[i]);
      }
      if (!names.empty()) out_ += "] ";
      name(e.key.text());
      out_ += ' ';
      path_.push(e.key);
      if (e.value.is(Kind::kMap)) {
        component(e.value);
      } else {
        if (e.value.secret() && !reveal_)
          string("(secret)");
        else
          value(e.value);
        out_ += ';';
      }
      path_.pop();
    }
    depth_--;
    if (any) {
      out_ += '\n';
      out_.append(depth_ * 2, ' ');
    }
    out_ += '}';
  }

  void link(const Value& v) {
    LinkPath p = link_path(v.text());
    if (v.is(Kind::kLazy)) out_ += "LAZY ";
    if (p.from_root) out_ += "ROOT:sfConfig";
    for (std::size_t i = 0; i < p.up && !p.from_root; i++) out_ += i ? ":PARENT" : "PARENT";
    // A name alone is looked for here first: it need not be said that it is here.
    bool first = !p.from_root && p.up == 0;
    for (Symbol n : p.names) {
      if (!first) out_ += ':';
      first = false;
      if (plain_name(n.text())) {
        out_ += n.text();
      } else {
        out_ += "HERE ";
        string(n.text());
      }
    }
  }

  // What a lazy value waits for is said in words of the language it comes from: a reference of ours, or a way from the
  // root.
  void lazy(const Value& v) {
    std::string_view text = v.text();
    bool ours =
        text.starts_with("APPLY ") || text.starts_with("ASSERT ") || parse_reference_text(session_, text) != nullptr;
    if (ours) {
      out_ += fmt::format("LAZY {}", text);
      return;
    }
    if (text.empty() || text.find_first_of(" \"'()[]{}:;,") != std::string_view::npos)
      return no("a lazy value of another language");
    Value way = Value::lazy(session_.arena.copy(fmt::format("/{}", text))).with_tag(link_tag());
    link(way);
  }

  void number(const Value& v) {
    std::string text = v.number_text();
    std::string_view tag = v.tag().text();
    if (v.is(Kind::kInt)) {
      if (!v.fits_i64()) return no("a whole number of more than 64 bits");
      i64 i = v.as_i64();
      out_ += text;
      if (tag == "LONG" || i > 2147483647 || i < -2147483648LL) out_ += 'L';
      return;
    }
    out_ += text;
    if (tag == "FLOAT")
      out_ += 'F';
    else if (tag == "DOUBLE")
      out_ += 'D';
  }

  void value(const Value& v) {
    if (is_link(v)) return link(v);
    switch (v.kind()) {
      case Kind::kNull: out_ += "NULL"; return;
      case Kind::kBool: out_ += v.as_bool() ? "true" : "false"; return;
      case Kind::kInt:
      case Kind::kDecimal: number(v); return;
      case Kind::kString:
        if (v.tag().text() == "FLOAT" || v.tag().text() == "DOUBLE") return no("a number that is infinite or none");
        string(v.text());
        return;
      case Kind::kBytes:
        out_ += "#HEX#";
        for (unsigned char c : v.text()) out_ += fmt::format("{:02X}", c);
        out_ += '#';
        return;
      case Kind::kReference:
        out_ += v.tag().text() == "LINK" ? std::string(v.text()) : fmt::format("DATA {}", v.text());
        return;
      case Kind::kLazy: lazy(v); return;
      case Kind::kOpen: out_ += v.text() == "TBD" ? "TBD" : v.text().starts_with("VAR") ? "VAR" : "TBD"; return;
      case Kind::kList: {
        Budget::Level level(session_.budget);
        out_ += '[';
        for (std::size_t i = 0; i < v.items().size(); i++) {
          if (i) out_ += ", ";
          const Value& item = v.items()[i];
          if (item.secret()) {
            no("a secret in a vector");  // where there are no tags
          } else if (item.is(Kind::kMap)) {
            out_ += '(';
            component(item);
            out_ += ')';
          } else {
            value(item);
          }
        }
        out_ += ']';
        return;
      }
      case Kind::kMap: component(v); return;
      default: return no("a value of this kind");
    }
  }

  void no(std::string_view what) {
    ok_ = false;
    session_.diagnostics.error("SF-WRITE", {}, fmt::format("{} at `{}` has no form in SmartFrog", what, path_.text()));
  }

  Session& session_;
  bool reveal_;
  Path path_;
  std::size_t depth_ = 0;
  bool ok_ = true;
  std::string out_;
};

}  // namespace

std::optional<std::string> write_smartfrog(Session& session, const Value& value, bool reveal) {
  return Writer(session, reveal).write(value);
}

}  // namespace tutti::smartfrog
