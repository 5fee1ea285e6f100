// TOML with the keys of a table in alphabetical order, values before tables.
#include <algorithm>

#include "lang/cue/builtin/encodings.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/export/encode.h"

namespace tutti::cue {

namespace {

// A number without exponent (unless that is beyond what readers take) and zeros at its end.
std::string written_out(std::string s) {
  std::string sign;
  if (s.starts_with('-')) {
    sign = "-";
    s.erase(0, 1);
  }
  int exponent = 0;
  if (std::size_t e = s.find('e'); e != std::string::npos) {
    exponent = std::atoi(s.c_str() + e + 1);
    if (exponent > 308 || exponent < -308) return sign + s;
    s.erase(e);
  }
  std::size_t point = std::min(s.find('.'), s.size());
  s.erase(point, 1);
  auto at = static_cast<std::ptrdiff_t>(point) + exponent;
  if (at < 1) {
    s.insert(0, static_cast<std::size_t>(1 - at), '0');
    at = 1;
  }
  if (static_cast<std::size_t>(at) > s.size()) s.append(static_cast<std::size_t>(at) - s.size(), '0');
  std::string whole = s.substr(0, static_cast<std::size_t>(at)), rest = s.substr(static_cast<std::size_t>(at));
  rest.erase(rest.find_last_not_of('0') + 1);
  return sign + whole + "." + (rest.empty() ? "0" : rest);
}

class TomlWriter {
 public:
  TomlWriter(Context& c, std::string& out, std::string& error) : c_(c), out_(out), error_(error) {}

  bool document(Node* n) {
    if (Vertex* v = as_struct(n)) return table(v, "");
    // What is no document of TOML is written as its value is.
    n = plain(n);
    if (n->type == NodeType::kNull) return fail("toml: cannot encode a nil interface");
    if (Vertex* list = as_list(n); list && has_table(list)) return fail("toml: top-level value must be a table");
    if (n->type == NodeType::kNum && (to<Num>(n)->kind & kIntKind) && !to<Num>(n)->value.to_i64())
      return fail("toml: type *big.Int implementing the TextMarshaler interface cannot be a root element");
    return inline_value(n);
  }

 private:
  bool fail(const char* why) {
    error_ = why;
    return false;
  }

  Node* plain(Node* n) {
    written_.value(out_.size());
    n = c_.default_of(n);
    while (n->type == NodeType::kVertex) {
      Vertex* v = to<Vertex>(n)->deref_value();
      if (!v->base || v->base->type == NodeType::kStructMarker || v->base->type == NodeType::kListMarker) return v;
      n = c_.default_of(v->base);
    }
    return n;
  }
  Vertex* as_struct(Node* n) {
    n = plain(n);
    return n->type == NodeType::kVertex && !to<Vertex>(n)->is_list() ? to<Vertex>(n) : nullptr;
  }
  Vertex* as_list(Node* n) {
    n = plain(n);
    return n->type == NodeType::kVertex && to<Vertex>(n)->is_list() ? to<Vertex>(n) : nullptr;
  }
  bool table_array(Vertex* list) {
    bool any = false;
    for (Vertex* a : list->arcs) {
      if (!a->label.is_int()) continue;
      if (!as_struct(a)) return false;
      any = true;
    }
    return any;
  }

  bool has_table(Vertex* list) {
    for (Vertex* a : list->arcs)
      if (a->label.is_int() && as_struct(a)) return true;
    return false;
  }

  static std::string quoted(std::string_view s) {
    bool literal = s.find('\'') == std::string_view::npos;
    for (char ch : s) literal &= static_cast<unsigned char>(ch) >= 0x20 && ch != 0x7F;
    if (literal) return "'" + std::string(s) + "'";
    std::string out;
    append_json_string(out, s, false);
    for (std::size_t at = 0; (at = out.find('\x7F', at)) != std::string::npos; at += 6) out.replace(at, 1, "\\u007F");
    return out;
  }

  static std::string key(std::string_view s) {
    bool bare = !s.empty();
    for (char ch : s)
      bare &=
          (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '-' || ch == '_';
    return bare ? std::string(s) : quoted(s);
  }

  std::vector<Vertex*> fields(Vertex* v) {
    std::vector<Vertex*> list;
    for (Vertex* a : v->arcs)
      if (a->label.is_string() && a->arc_type == ArcType::kMember) list.push_back(a);
    std::sort(list.begin(), list.end(), [](Vertex* a, Vertex* b) { return a->label.name() < b->label.name(); });
    return list;
  }

  // Bytes need not be text, which a string of TOML is.
  void numbers(std::string_view bytes) {
    out_ += '[';
    for (std::size_t i = 0; i < bytes.size(); ++i)
      out_ += (i ? ", " : "") + std::to_string(static_cast<unsigned char>(bytes[i]));
    out_ += ']';
  }

  bool inline_value(Node* n) {
    n = plain(n);
    switch (n->type) {
      case NodeType::kBool: out_ += to<Bool>(n)->value ? "true" : "false"; return true;
      case NodeType::kNum: {
        std::string s = to<Num>(n)->value.text('e');
        bool whole = to<Num>(n)->kind & kIntKind;
        if (!whole) s = written_out(s);
        // readers take no integer of more than 64 bits, and no exponent beyond those of floats
        bool too_large = whole ? !to<Num>(n)->value.to_i64() : s.find('e') != std::string::npos;
        out_ += too_large ? quoted(s) : s;
        return true;
      }
      case NodeType::kString: out_ += quoted(to<String>(n)->text); return true;
      case NodeType::kBytes: numbers(to<Bytes>(n)->text); return true;
      case NodeType::kNull: return fail("toml: encoding a nil interface is not supported");
      case NodeType::kVertex: break;
      default: return fail("toml: unsupported value");
    }
    Vertex* v = to<Vertex>(n);
    bool first = true;
    if (v->is_list()) {
      out_ += '[';
      for (Vertex* a : v->arcs) {
        if (!a->label.is_int()) continue;
        if (!first) out_ += ", ";
        first = false;
        if (!inline_value(a)) return false;
      }
      out_ += ']';
      return true;
    }
    out_ += '{';
    for (Vertex* a : fields(v)) {
      if (plain(a)->type == NodeType::kNull) continue;
      if (!first) out_ += ", ";
      first = false;
      out_ += key(a->label.name()) + " = ";
      if (!inline_value(a)) return false;
    }
    out_ += '}';
    return true;
  }

  // An empty line stands before a table, unless the line before is the header of the one it belongs to.
  void header(const std::string& text) {
    if (!first_in_table_) out_ += '\n';
    first_in_table_ = true;
    out_ += text + "\n";
  }

  bool table(Vertex* v, const std::string& path) {
    std::vector<Vertex*> tables;
    for (Vertex* a : fields(v)) {
      if (plain(a)->type == NodeType::kNull) continue;
      Vertex* list = as_list(a);
      if (as_struct(a) || (list && table_array(list))) {
        tables.push_back(a);
        continue;
      }
      out_ += key(a->label.name()) + " = ";
      if (!inline_value(a)) return false;
      out_ += '\n';
      first_in_table_ = false;
    }
    for (Vertex* a : tables) {
      std::string name = (path.empty() ? "" : path + ".") + key(a->label.name());
      if (Vertex* s = as_struct(a)) {
        header("[" + name + "]");
        if (!table(s, name)) return false;
        first_in_table_ = false;
      } else {
        for (Vertex* e : as_list(a)->arcs) {
          if (!e->label.is_int()) continue;
          header("[[" + name + "]]");
          if (!table(as_struct(e), name)) return false;
          first_in_table_ = false;
        }
      }
    }
    return true;
  }

  Context& c_;
  std::string& out_;
  std::string& error_;
  bool first_in_table_ = true;
  WritingLimit written_{c_.budget.limits()};
};

}  // namespace

bool encode_toml(Context& c, Node* value, std::string& out, std::string& error) {
  return TomlWriter(c, out, error).document(value);
}

}  // namespace tutti::cue
