#include <array>

#include "base/base64.h"
#include "base/utf8.h"
#include "format/json.h"
#include "format/yaml.h"

namespace tutti {
namespace {

// Words that some reader of YAML takes for something else than text.
constexpr std::array<std::string_view, 12> kWords = {"y",    "n",     "yes",  "no", "on", "off",
                                                     "true", "false", "null", "~",  "<<", "="};

bool is_word(std::string_view s) {
  if (s.size() > 5) return false;
  std::string lower;
  for (char c : s) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (std::string_view w : kWords) {
    if (lower == w) return true;
  }
  return false;
}

// Whether the text can stand without quotes, in block style, as value and as key.
bool plain(std::string_view s) {
  if (s.empty() || is_word(s)) return false;
  constexpr std::string_view kNotFirst = "-?:,[]{}#&*!|>'\"%@` \t.+0123456789=";
  char first = s[0];
  if (first == '-' && s.size() > 1 && ((s[1] >= 'a' && s[1] <= 'z') || (s[1] >= 'A' && s[1] <= 'Z'))) {
    // -flag is text
  } else if (first == '.' && s.size() > 1 && (s[1] == '/' || s[1] == '.')) {
    // ./path is text
  } else if (kNotFirst.find(first) != std::string_view::npos) {
    return false;
  }
  if (s.back() == ' ' || s.back() == ':' || s.starts_with("---") || s.starts_with("...")) return false;
  for (std::size_t at = 0; at < s.size();) {
    std::size_t start = at;
    char32_t c = utf8::decode(s, at);
    if (c < 0x20 || c == 0x7F || (c >= 0x80 && c < 0xA0) || c == utf8::kInvalid || c == 0xFEFF || c == 0x2028 ||
        c == 0x2029)
      return false;
    if (c == ':' && at < s.size() && s[at] == ' ') return false;
    if (c == '#' && start > 0 && s[start - 1] == ' ') return false;
  }
  return true;
}

// Text of several lines that a literal block gives back exactly.
bool block(std::string_view s) {
  if (s.find('\n') == std::string_view::npos || s[0] == ' ' || s[0] == '\n' || s[0] == '\t') return false;
  for (std::size_t at = 0; at < s.size();) {
    char32_t c = utf8::decode(s, at);
    if (c == '\n' || c == '\t') continue;
    if (c < 0x20 || c == 0x7F || (c >= 0x80 && c < 0xA0) || c == utf8::kInvalid || c == 0xFEFF || c == 0x2028 ||
        c == 0x2029)
      return false;
  }
  // Lines of blanks only, and blanks at the end, are easily lost by whoever edits the file.
  for (std::size_t at = s.find('\n'); at != std::string_view::npos; at = s.find('\n', at + 1)) {
    if (at > 0 && (s[at - 1] == ' ' || s[at - 1] == '\t')) return false;
  }
  return s.back() != ' ' && s.back() != '\t';
}

class YamlWriter {
 public:
  explicit YamlWriter(Sink& sink) : sink_(sink) {}

  // After `key:` or `-`: a scalar goes on the line, a filled list or map below it.
  void after_key(const Value& v, std::size_t depth) {
    bool below = v.size() > 0;
    if (tagged(v) || !below) sink_.put(' ');
    tag(v);
    if (below) {
      sink_.put('\n');
      body(v, depth);
    } else {
      scalar(v, depth);
      sink_.put('\n');
    }
  }

  void top(const Value& v) {
    tag(v);
    if (v.size() > 0) {
      if (tagged(v)) sink_.put('\n');
      body(v, 0);
    } else {
      scalar(v, 0);
      sink_.put('\n');
    }
  }

 private:
  static bool tagged(const Value& v) { return v.tag().text().starts_with('!'); }

  void tag(const Value& v) {
    if (!tagged(v)) return;
    sink_.put(v.tag().text());
    if (v.size() == 0) sink_.put(' ');
  }

  void body(const Value& v, std::size_t depth) {
    if (v.is(Kind::kList)) {
      for (const Value& item : v.items()) {
        sink_.spaces(depth * 2);
        sink_.put('-');
        inline_item(item, depth);
      }
      return;
    }
    bool first = true;
    for (const Entry& e : v.entries()) {
      if (!(first && compact_)) sink_.spaces(depth * 2);
      first = compact_ = false;
      text(e.key.text(), depth, true);
      sink_.put(':');
      after_key(e.value, depth + 1);
    }
  }

  // A map in a list begins on the line of its dash.
  void inline_item(const Value& item, std::size_t depth) {
    if (item.is(Kind::kMap) && item.size() > 0 && !tagged(item)) {
      sink_.put(' ');
      compact_ = true;
      body(item, depth + 1);
      return;
    }
    after_key(item, depth + 1);
  }

  void scalar(const Value& v, std::size_t depth) {
    switch (v.kind()) {
      case Kind::kString: return v.tag().text() == "float" ? sink_.put(v.text()) : text(v.text(), depth, false);
      case Kind::kBytes: sink_.put("!!binary "); return sink_.put(base64_encode(v.text()));
      case Kind::kList: return sink_.put("[]");
      case Kind::kMap: return sink_.put("{}");
      default: {  // JSON is YAML
        StringSink json;
        write_json(v, {.indent = 0}, json);
        std::string s = json.take();
        s.pop_back();
        sink_.put(s);
      }
    }
  }

  void text(std::string_view s, std::size_t depth, bool key) {
    if (plain(s) && !(key && s.size() > 1000)) return sink_.put(s);
    if (!key && block(s)) {
      sink_.put(s.back() == '\n' ? (s.size() > 1 && s[s.size() - 2] == '\n' ? "|+" : "|") : "|-");
      std::string_view rest = s.back() == '\n' ? s.substr(0, s.size() - 1) : s;
      for (;;) {
        std::size_t end = rest.find('\n');
        std::string_view line = rest.substr(0, end);
        sink_.put('\n');
        if (!line.empty()) sink_.spaces(depth == 0 ? 2 : depth * 2);
        sink_.put(line);
        if (end == std::string_view::npos) return;
        rest.remove_prefix(end + 1);
      }
    }
    if (key && s.size() > 1000) sink_.put("? ");  // longer than a simple key may be
    quoted(s);
    if (key && s.size() > 1000) {
      sink_.put('\n');
      sink_.spaces(depth * 2);
    }
  }

  void quoted(std::string_view s) {
    bool simple = s.find('\'') == std::string_view::npos || s.find('"') != std::string_view::npos;
    for (std::size_t at = 0; at < s.size();) {
      char32_t c = utf8::decode(s, at);
      if (c < 0x20 || c == 0x7F || (c >= 0x80 && c < 0xA0) || c == 0xFEFF || c == 0x2028 || c == 0x2029) simple = false;
    }
    if (simple && (s.find('\\') != std::string_view::npos || s.find('"') != std::string_view::npos)) {
      sink_.put('\'');
      for (char c : s) {
        if (c == '\'') sink_.put('\'');
        sink_.put(c);
      }
      return sink_.put('\'');
    }
    sink_.put('"');
    for (std::size_t at = 0; at < s.size();) {
      std::size_t start = at;
      char32_t c = utf8::decode(s, at);
      if (c == '"' || c == '\\') {
        sink_.put('\\');
        sink_.put(static_cast<char>(c));
      } else if (c == '\n') {
        sink_.put("\\n");
      } else if (c == '\t') {
        sink_.put("\\t");
      } else if (c == '\r') {
        sink_.put("\\r");
      } else if (c < 0x20 || c == 0x7F || (c >= 0x80 && c < 0xA0) || c == 0xFEFF || c == 0x2028 || c == 0x2029) {
        constexpr std::string_view kHex = "0123456789abcdef";
        sink_.put("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) sink_.put(kHex[(c >> shift) & 15]);
      } else {
        sink_.put(s.substr(start, at - start));
      }
    }
    sink_.put('"');
  }

  Sink& sink_;
  bool compact_ = false;  // the first key of the next map stands on the line already begun
};

}  // namespace

void write_yaml(const Value& value, Sink& sink) { YamlWriter(sink).top(value); }

}  // namespace tutti
