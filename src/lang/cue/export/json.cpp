#include <fmt/format.h>

#include <array>

#include "base/utf8.h"
#include "lang/cue/builtin/encodings.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/eval/print.h"
#include "lang/cue/export/encode.h"
#include "lang/cue/export/order.h"

namespace tutti::cue {

namespace {

// The bytes that stand for themselves in a string: always, and where it may end up in HTML.
enum : u8 { kPlain = 1, kPlainHtml = 2 };
constexpr std::array<u8, 256> kBytes = [] {
  std::array<u8, 256> out{};
  for (std::size_t c = 0x20; c < 0x80; ++c) {
    if (c == '"' || c == '\\') continue;
    out[c] = c == '<' || c == '>' || c == '&' ? kPlain : kPlain | kPlainHtml;
  }
  return out;
}();

}  // namespace

void append_json_string(std::string& out, std::string_view s, bool html) {
  constexpr char kHex[] = "0123456789abcdef";
  const u8 plain = html ? kPlainHtml : kPlain;
  out += '"';
  std::size_t from = 0;
  for (std::size_t i = 0; i < s.size();) {
    unsigned char c = static_cast<unsigned char>(s[i]);
    if (kBytes[c] & plain) {
      ++i;
      continue;
    }
    if (c >= 0x80) {
      std::size_t at = i;
      char32_t r = utf8::decode(s, i);
      if (r != utf8::kInvalid && r != 0x2028 && r != 0x2029) continue;
      out.append(s, from, at - from);
      out += r == utf8::kInvalid ? "\\ufffd" : r == 0x2028 ? "\\u2028" : "\\u2029";
      from = i;
      continue;
    }
    out.append(s, from, i - from);
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      default:
        out += "\\u00";
        out += kHex[c >> 4];
        out += kHex[c & 15];
    }
    from = ++i;
  }
  out.append(s, from);
  out += '"';
}

namespace {

class JsonWriter {
 public:
  JsonWriter(Context& c, const Sources& sources, const JsonStyle& style, std::string& out, std::string& error)
      : c_(c), order_(sources), style_(style), out_(out), error_(error) {}

  bool value(Node* n) {
    written_.value(out_.size());
    if (out_.size() > style_.longest) check_text(out_.size());
    n = c_.chosen(n);
    if (n->type == NodeType::kVertex) {
      Vertex* v = to<Vertex>(n)->deref_value();
      if (v->base && v->base->type != NodeType::kStructMarker && v->base->type != NodeType::kListMarker) {
        if (v->base->type == NodeType::kDisjunction) return value(v->base);
        return scalar(v->base);
      }
      if (v->is_list()) return list(v);
      return object(v);
    }
    return scalar(n);
  }

 private:
  bool fail(std::string why) {
    error_ = std::move(why);
    return false;
  }

  bool scalar(Node* n) {
    switch (n->type) {
      case NodeType::kNull: out_ += "null"; return true;
      case NodeType::kBool: out_ += to<Bool>(n)->value ? "true" : "false"; return true;
      case NodeType::kNum: {
        out_ += to<Num>(n)->value.text();
        return true;
      }
      case NodeType::kString: append_json_string(out_, to<String>(n)->text, style_.html); return true;
      case NodeType::kBytes: append_json_string(out_, base64_encode(to<Bytes>(n)->text), style_.html); return true;
      case NodeType::kVertex: return value(n);
      case NodeType::kBottom: {
        auto all = flatten(to<Bottom>(n));
        return fail(all.empty() ? "error" : all[0].path.empty() ? all[0].message : all[0].path + ": " + all[0].message);
      }
      default: return fail(fmt::format("cannot convert incomplete value \"{}\" to JSON", compact(n)));
    }
  }

  void line() {
    if (style_.indent.empty()) return;
    std::size_t wanted = 1 + static_cast<std::size_t>(depth_) * style_.indent.size();
    while (line_.size() < wanted) line_ += style_.indent;
    out_.append(line_, 0, wanted);
  }

  bool list(Vertex* v) {
    out_ += '[';
    bool first = true;
    ++depth_;
    for (Vertex* a : v->arcs) {
      if (!a->label.is_int()) continue;
      if (!first) out_ += ',';
      first = false;
      line();
      if (!value(a)) return false;
    }
    --depth_;
    if (!first) line();
    out_ += ']';
    return true;
  }

  bool object(Vertex* v) {
    out_ += '{';
    bool first = true;
    std::size_t level = static_cast<std::size_t>(depth_++);
    if (fields_.size() <= level) fields_.resize(level + 1);
    order_.of(v, fields_[level]);
    for (std::size_t i = 0; i < fields_[level].size(); ++i) {
      Vertex* a = fields_[level][i];
      if (!a->label.is_string() || a->arc_type != ArcType::kMember) continue;
      if (!first) out_ += ',';
      first = false;
      line();
      append_json_string(out_, a->label.name(), style_.html);
      out_ += style_.indent.empty() ? ":" : ": ";
      if (!value(a)) return false;
    }
    --depth_;
    if (!first) line();
    out_ += '}';
    return true;
  }

  Context& c_;
  ArcOrder order_;
  const JsonStyle& style_;
  std::string& out_;
  std::string& error_;
  WritingLimit written_{c_.budget.limits()};
  int depth_ = 0;
  std::string line_ = "\n";                   // with the deepest indentation so far
  std::vector<std::vector<Vertex*>> fields_;  // of the objects that are being written, by depth
};

}  // namespace

bool encode_json(Context& c, const Sources& sources, Node* value, const JsonStyle& style, std::string& out,
                 std::string& error) {
  return JsonWriter(c, sources, style, out, error).value(value);
}

}  // namespace tutti::cue
