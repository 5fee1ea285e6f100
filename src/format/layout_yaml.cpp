// Indentation by two, lists indented under their key, single blank lines, no blanks at the ends of lines. The lines
// keep their content; only where each begins is decided anew, from libyaml's tokens.
#include <yaml.h>

#include <vector>

#include "format/layout.h"
#include "format/yaml.h"

namespace tutti {
namespace {

constexpr int kUnknown = -1;

class YamlLayout {
 public:
  explicit YamlLayout(std::string_view text) : text_(text) {
    for (std::string_view rest = text; !rest.empty();) {
      std::size_t end = rest.find('\n');
      std::string_view line = rest.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      lines_.push_back({line});
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }

  // The new text, or nothing when the tokens hold something that this does not understand.
  std::optional<std::string> lay_out() {
    yaml_parser_t parser;
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text_.data()), text_.size());
    bool fine = true;
    for (bool end = false; fine && !end;) {
      yaml_token_t token;
      if (yaml_parser_scan(&parser, &token) == 0) {
        fine = false;
        break;
      }
      end = token.type == YAML_STREAM_END_TOKEN;
      fine = take(token);
      yaml_token_delete(&token);
    }
    yaml_parser_delete(&parser);
    if (!fine) return std::nullopt;
    comments();
    return print();
  }

 private:
  struct Line {
    std::string_view text;
    int indent = kUnknown;  // where it is to begin; kUnknown: not decided
    int dash_gap = 0;       // blanks to take away after the dashes at its start
    bool verbatim = false;  // inside a scalar: moved as a whole, or not at all
    int shift = 0;          // of a verbatim line
  };
  struct Block {
    bool list;
    bool implied;  // a list at the column of its key
    int old_column, column;
  };

  static int column(const yaml_mark_t& m) { return static_cast<int>(m.column); }

  bool at_line_start(const yaml_mark_t& m) const {
    return m.line < lines_.size() &&
           lines_[m.line].text.substr(0, m.column).find_first_not_of(' ') == std::string_view::npos;
  }

  // A block that begins on the line of a dash stands two columns after it.
  void open(const yaml_mark_t& m, bool list) {
    int to = blocks_.empty() ? 0 : blocks_.back().column + 2;
    close_gap(m);
    blocks_.push_back({list, false, column(m), to});
  }

  // One blank between a dash and what follows it.
  void close_gap(const yaml_mark_t& m) {
    if (!after_dash_ || dash_line_ != m.line || m.line >= lines_.size()) return;
    int gap = column(m) - dash_column_ - 1;
    if (gap > 1) lines_[m.line].dash_gap += gap - 1;
    after_dash_ = false;
  }

  void begin_line(const yaml_mark_t& m, int to) {
    if (at_line_start(m) && lines_[m.line].indent == kUnknown) lines_[m.line].indent = to;
  }

  bool take(const yaml_token_t& token) {
    const yaml_mark_t& m = token.start_mark;
    switch (token.type) {
      case YAML_STREAM_START_TOKEN:
      case YAML_STREAM_END_TOKEN: return true;
      case YAML_VERSION_DIRECTIVE_TOKEN:
      case YAML_TAG_DIRECTIVE_TOKEN:
      case YAML_DOCUMENT_START_TOKEN:
      case YAML_DOCUMENT_END_TOKEN:
        blocks_.clear();
        begin_line(m, 0);
        after_dash_ = false;
        return true;
      case YAML_BLOCK_SEQUENCE_START_TOKEN: open(m, true); return true;
      case YAML_BLOCK_MAPPING_START_TOKEN:
        drop_implied(m);
        open(m, false);
        return true;
      case YAML_BLOCK_END_TOKEN:
        if (!blocks_.empty() && blocks_.back().implied) blocks_.pop_back();
        if (!blocks_.empty()) blocks_.pop_back();
        return true;
      case YAML_BLOCK_ENTRY_TOKEN:
        if (blocks_.empty()) return false;
        if (!blocks_.back().list) blocks_.push_back({true, true, column(m), blocks_.back().column + 2});
        begin_line(m, blocks_.back().column);
        after_dash_ = true;
        dash_line_ = m.line;
        dash_column_ = column(m);
        return true;
      case YAML_KEY_TOKEN:
        if (flow_ > 0) return true;
        if (m.line < lines_.size() && column(m) < static_cast<int>(lines_[m.line].text.size()) &&
            lines_[m.line].text[m.column] == '?' && token.end_mark.index > token.start_mark.index) {
          return false;  // a key written with `?`
        }
        drop_implied(m);
        if (!blocks_.empty()) begin_line(m, blocks_.back().column);
        after_dash_ = false;
        return true;
      case YAML_FLOW_SEQUENCE_START_TOKEN:
      case YAML_FLOW_MAPPING_START_TOKEN:
        if (flow_++ == 0) {
          close_gap(m);
          flow_line_ = m.line;
          begin_line(m, below());
        }
        return true;
      case YAML_FLOW_SEQUENCE_END_TOKEN:
      case YAML_FLOW_MAPPING_END_TOKEN:
        if (--flow_ == 0) inside(flow_line_, token.end_mark.line);
        return true;
      case YAML_SCALAR_TOKEN:
        if (flow_ > 0) return true;
        close_gap(m);
        begin_line(m, below());
        if (token.data.scalar.style == YAML_LITERAL_SCALAR_STYLE ||
            token.data.scalar.style == YAML_FOLDED_SCALAR_STYLE) {
          block_scalar(m.line, token.end_mark);
        } else {
          inside(m.line, token.end_mark.line);
        }
        after_dash_ = false;
        return true;
      case YAML_ANCHOR_TOKEN:
      case YAML_TAG_TOKEN:
      case YAML_ALIAS_TOKEN:
        if (flow_ == 0) {
          close_gap(m);
          begin_line(m, below());
        }
        return true;
      default: return true;
    }
  }

  // A list at its key's column ends where the next key of that map begins.
  void drop_implied(const yaml_mark_t& m) {
    if (!blocks_.empty() && blocks_.back().implied && column(m) <= blocks_.back().old_column) {
      blocks_.pop_back();
    }
  }

  int below() const { return blocks_.empty() ? 0 : blocks_.back().column + 2; }

  int shift_of(std::size_t line) const {
    const Line& l = lines_[line];
    std::size_t old = l.text.find_first_not_of(' ');
    return l.indent == kUnknown || old == std::string_view::npos ? l.shift : l.indent - static_cast<int>(old);
  }

  // Lines after the first of something that goes over several move with it.
  void inside(std::size_t first, std::size_t last) {
    int shift = shift_of(first);
    for (std::size_t i = first + 1; i <= last && i < lines_.size(); i++) {
      lines_[i].verbatim = true;
      lines_[i].shift = shift;
    }
  }

  // The scalar's token ends where the next thing begins; its lines are those indented deeper than what it belongs to.
  void block_scalar(std::size_t first, const yaml_mark_t& end) {
    std::size_t last = end.line;
    if (end.column == 0 || last >= lines_.size() || at_line_start(end)) last = last == 0 ? 0 : last - 1;
    last = std::min(last, lines_.size() - 1);
    int shift = shift_of(first);
    std::size_t from = lines_[first].text.find_first_not_of(' ');
    std::size_t i = first + 1;
    bool started = false;
    for (; i <= last; i++) {
      std::size_t indent = lines_[i].text.find_first_not_of(' ');
      // A comment less indented than the text ends the scalar, though libyaml's token goes on.
      if (indent != std::string_view::npos && started && indent <= from && lines_[i].text[indent] == '#') break;
      started |= indent != std::string_view::npos;
      lines_[i].verbatim = true;
      lines_[i].shift = shift;
    }
  }

  bool is_comment(const Line& l) const {
    std::size_t from = l.text.find_first_not_of(" \t");
    return !l.verbatim && l.indent == kUnknown && from != std::string_view::npos && l.text[from] == '#';
  }

  // A comment on a line of its own stands where the next line with content does; one that is deeper than that belongs
  // to what came before, and stands with the last line that was not deeper than it.
  void comments() {
    struct Move {
      std::size_t from;
      int to;
    };
    std::vector<std::optional<Move>> next(lines_.size() + 1);
    for (std::size_t i = lines_.size(); i-- > 0;) {
      const Line& l = lines_[i];
      std::size_t from = l.text.find_first_not_of(" \t");
      next[i] = next[i + 1];
      if (from == std::string_view::npos || is_comment(l)) continue;
      next[i] = l.indent == kUnknown ? std::nullopt : std::optional<Move>({from, l.indent});
    }
    std::vector<Move> before;  // lines so far that no later one reaches below, from the left to the right
    for (std::size_t i = 0; i < lines_.size(); i++) {
      Line& l = lines_[i];
      std::size_t from = l.text.find_first_not_of(" \t");
      if (is_comment(l)) {
        while (!before.empty() && before.back().from > from) before.pop_back();
        l.indent = before.empty() ? 0 : before.back().to;
        if (next[i] && (from <= next[i]->from || l.indent < next[i]->to)) l.indent = next[i]->to;
      } else if (l.indent != kUnknown && !l.verbatim && from != std::string_view::npos) {
        while (!before.empty() && before.back().from >= from) before.pop_back();
        before.push_back({from, l.indent});
      }
    }
  }

  static std::string_view cut(std::string_view s) {
    std::size_t end = s.find_last_not_of(" \t");
    return s.substr(0, end == std::string_view::npos ? 0 : end + 1);
  }

  std::string print() const {
    std::string out;
    std::size_t blank = 1;  // blank lines just written; none at the top
    for (const Line& l : lines_) {
      std::string_view content = l.text;
      std::size_t from = content.find_first_not_of(' ');
      if (l.verbatim) {
        int indent = from == std::string_view::npos ? 0 : std::max(0, static_cast<int>(from) + l.shift);
        out.append(static_cast<std::size_t>(indent), ' ');
        if (from != std::string_view::npos) out += content.substr(from);
        out += '\n';
        blank = from == std::string_view::npos ? 1 : 0;
        continue;
      }
      content = cut(content);
      from = content.find_first_not_of(' ');
      if (from == std::string_view::npos) {
        if (blank++ == 0) out += '\n';
        continue;
      }
      blank = 0;
      content.remove_prefix(from);
      out.append(l.indent == kUnknown ? from : static_cast<std::size_t>(l.indent), ' ');
      for (int gap = l.dash_gap; content.starts_with("- ");) {
        out += "- ";
        content.remove_prefix(2);
        for (; gap > 0 && content.starts_with(' '); gap--) content.remove_prefix(1);
      }
      out += content;
      out += '\n';
    }
    while (out.ends_with("\n\n")) out.pop_back();
    return out;
  }

  std::string_view text_;
  std::vector<Line> lines_;
  std::vector<Block> blocks_;
  int flow_ = 0;
  std::size_t flow_line_ = 0;
  bool after_dash_ = false;
  std::size_t dash_line_ = 0;
  int dash_column_ = 0;
};

// YAML ends a line with more than LF and CR LF. Such a text is left as it is.
bool has_odd_line_ends(std::string_view text) {
  for (std::size_t at = text.find('\r'); at != std::string_view::npos; at = text.find('\r', at + 1)) {
    if (text.substr(at + 1, 1) != "\n") return true;
  }
  for (std::string_view end : {"\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"}) {
    if (text.find(end) != std::string_view::npos) return true;
  }
  return false;
}

// Equal, with the tags that stand on the values.
bool same(const Value& a, const Value& b) {
  if (a.tag() != b.tag() || a.kind() != b.kind() || a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.items().size(); i++) {
    if (!same(a.items()[i], b.items()[i])) return false;
  }
  for (std::size_t i = 0; i < a.entries().size(); i++) {
    if (a.entries()[i].key != b.entries()[i].key || !same(a.entries()[i].value, b.entries()[i].value)) return false;
  }
  return a.size() > 0 || equal(a, b);
}

}  // namespace

std::optional<std::string> layout_yaml(Session& session, const Source& source) {
  std::optional<Value> before = read_yaml(session, source);
  if (!before) return std::nullopt;
  if (has_odd_line_ends(source.text)) return source.text;
  // What is laid out is laid out for good: a text that would move again and again stays as it is.
  std::optional<std::string> out = YamlLayout(source.text).lay_out();
  for (int round = 0; out; round++) {
    std::optional<std::string> again = round < 3 ? YamlLayout(*out).lay_out() : std::nullopt;
    if (!again || *again == *out) {
      if (!again) out.reset();
      break;
    }
    out = std::move(again);
  }
  if (!out) return source.text;
  Session check(session.budget.limits());
  auto again = check.sources->add(source.name, *out);
  std::optional<Value> after = again ? read_yaml(check, **again) : std::nullopt;
  return after && same(*before, *after) ? *out : source.text;
}

}  // namespace tutti
