#include "format/layout.h"

#include "format/json.h"
#include "format/toml.h"
#include "format/write.h"

namespace tutti {
namespace {

std::string_view trimmed_right(std::string_view s) {
  std::size_t end = s.find_last_not_of(" \t\r");
  return s.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

std::string_view trimmed(std::string_view s) {
  s = trimmed_right(s);
  std::size_t from = s.find_first_not_of(" \t");
  return from == std::string_view::npos ? std::string_view{} : s.substr(from);
}

// Where a line of TOML leaves off: inside a string of several lines, and in how many brackets.
class TomlState {
 public:
  bool in_text() const { return text_ != 0; }
  bool inside() const { return text_ != 0 || brackets_ > 0; }

  // Reads one line; returns the offset of the first `=` outside of strings and brackets, or npos.
  std::size_t line(std::string_view s) {
    std::size_t equals = std::string_view::npos;
    bool header = !inside() && trimmed(s).starts_with('[');
    for (std::size_t i = 0; i < s.size();) {
      if (text_ != 0) {
        if (text_ == '"' && s[i] == '\\') {
          i += 2;
        } else if (s.substr(i, 3) == std::string(3, text_)) {
          text_ = 0;
          i += 3;
          while (i < s.size() && (s[i] == '"' || s[i] == '\'') && s[i] == s[i - 1]) i++;
        } else {
          i++;
        }
        continue;
      }
      char c = s[i];
      if (c == '#') break;
      if (c == '"' || c == '\'') {
        if (s.substr(i, 3) == std::string(3, c)) {
          text_ = c;
          i += 3;
          continue;
        }
        for (i++; i < s.size() && s[i] != c; i++) {
          if (c == '"' && s[i] == '\\') i++;
        }
        i++;
        continue;
      }
      if (!header && (c == '[' || c == '{')) brackets_++;
      if (!header && (c == ']' || c == '}') && brackets_ > 0) brackets_--;
      if (c == '=' && brackets_ == 0 && equals == std::string_view::npos) equals = i;
      i++;
    }
    return equals;
  }

 private:
  char text_ = 0;  // the quote of an open string of several lines
  int brackets_ = 0;
};

}  // namespace

std::optional<std::string> layout_json(Session& session, const Source& source) {
  bool lines = source.path.ends_with(".jsonl") || source.path.ends_with(".ndjson");
  std::optional<Value> value = lines ? read_json_stream(session, source) : read_json(session, source);
  if (!value) return std::nullopt;
  StringSink sink;
  for (const Value& document : documents(*value)) write_json(document, {.indent = lines ? 0u : 2u}, sink);
  return sink.take();
}

std::optional<std::string> layout_toml(Session& session, const Source& source) {
  std::optional<Value> before = read_toml(session, source);
  if (!before) return std::nullopt;
  std::string out;
  TomlState state;
  bool blank = true, comment = false;  // of the line before
  for (std::string_view rest = source.text; !rest.empty();) {
    std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (state.inside()) {
      bool text = state.in_text();
      state.line(line);
      out += text || state.in_text() ? line : trimmed_right(line);
      out += '\n';
      blank = comment = false;
      continue;
    }
    std::size_t equals = state.line(line);
    std::string_view content = trimmed(line);
    if (content.empty()) {
      if (!blank) out += '\n';
      blank = true;
      comment = false;
      continue;
    }
    if (content[0] == '[' && !blank && !comment) out += '\n';
    if (equals != std::string_view::npos && content[0] != '#' && content[0] != '[') {
      out += trimmed(line.substr(0, equals));
      out += " = ";
      std::string_view value = line.substr(equals + 1);
      value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
      out += state.in_text() ? value : trimmed_right(value);
    } else {
      out += content;
    }
    out += '\n';
    blank = false;
    comment = content[0] == '#';
  }
  while (out.ends_with("\n\n")) out.pop_back();
  auto again = session.sources->add(source.name, out);
  std::optional<Value> after = again ? read_toml(session, **again) : std::nullopt;
  return after && equal(*before, *after, true) ? out : source.text;
}

}  // namespace tutti
