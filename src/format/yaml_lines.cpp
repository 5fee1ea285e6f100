#include "format/yaml_lines.h"

#include <algorithm>

#include "base/utf8.h"

namespace tutti {

namespace {

// What a plain scalar may not begin with, or not always.
constexpr std::string_view kIndicators = "-?:,[]{}#&*!|>'\"%@` \t\n";
constexpr std::size_t kLongestKey = 1000;  // libyaml takes 1,024 characters
constexpr std::size_t kFilling = 256;      // events read at a time

struct Table {
  std::array<bool, 256> is{};
  constexpr explicit Table(std::string_view chars) {
    for (char c : chars) is[static_cast<u8>(c)] = true;
  }
  bool operator[](char c) const { return is[static_cast<u8>(c)]; }
};
constexpr Table kIndicator(kIndicators), kStopsPlain(":# \t\n");

bool continues(char c) { return (static_cast<u8>(c) & 0xC0) == 0x80; }

// Text that libyaml takes as it is, without the rarer line breaks. Sets `ascii`.
bool readable(std::string_view text, bool& ascii) {
  u8 high = 0, control = 0;  // sixteen at a time, as the compiler sees it
  for (char c : text) {
    auto b = static_cast<u8>(c);
    high |= b;
    control |= static_cast<u8>((b < 0x20) & (b != '\n') & (b != '\t')) | static_cast<u8>(b == 0x7F);
  }
  ascii = high < 0x80;
  if (control) return false;
  if (ascii) return true;
  if (utf8::first_invalid(text) != std::string_view::npos) return false;
  for (std::size_t at = 0; at < text.size();) {
    u32 c = utf8::decode(text, at);
    if ((c >= 0x80 && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFEFF || c == 0xFFFE || c == 0xFFFF)
      return false;
  }
  return true;
}

// The character that `\c` stands for in double quotes; 0 where it is not a single one.
char escaped(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/': return c;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
  }
}

}  // namespace

YamlLines::YamlLines(std::string_view text) : text_(text) { given_up_ = !readable(text, ascii_); }

const YamlEvent* YamlLines::next() {
  while (given_ == sure_) {
    if (given_up_ || ended_) return nullptr;
    fill();
  }
  return &events_[given_++];
}

// Many lines at a time. Those of the last are kept back: libyaml looks at what follows before it gives an event.
void YamlLines::fill() {
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(given_));
  given_ = sure_ = 0;
  texts_[++fillings_ % 2].clear();
  while (events_.size() < kFilling && !ended_ && !given_up_) given_up_ = !line();
}

bool YamlLines::line() {
  std::size_t at = after_spaces(line_start_);
  bool empty = char_at(at) == '\n' || text_[at] == '#';
  std::size_t first = events_.size(), end = empty ? std::min(text_.find('\n', at), text_.size()) : content(at);
  if (end == kNone) return false;
  if (!empty) sure_ = first;
  if (end < text_.size())
    next_line(end);
  else if (levels_.empty())
    return false;
  else
    finish();
  return true;
}

void YamlLines::next_line(std::size_t line_break) {
  before_ = mark(line_break).index + 1;
  line_start_ = line_break + 1;
  ++line_;
}

// Where the line goes on to its end with nothing or a comment, the place of its end.
std::size_t YamlLines::line_end(std::size_t at) const {
  std::size_t end = after_spaces(at);
  if (char_at(end) == '\n') return std::min(end, text_.size());
  if (text_[end] != '#' || end == at) return kNone;
  return std::min(text_.find('\n', end), text_.size());
}

std::size_t YamlLines::after_spaces(std::size_t at) const {
  while (at < text_.size() && text_[at] == ' ') ++at;
  return at;
}

yaml_mark_t YamlLines::mark(std::size_t at) const {
  std::size_t column = at - line_start_;
  if (!ascii_) column -= static_cast<std::size_t>(std::ranges::count_if(text_.substr(line_start_, column), continues));
  return {before_ + column, line_, column};
}

void YamlLines::add(yaml_event_type_t type, const yaml_mark_t& start, const yaml_mark_t& end) {
  YamlEvent& event = events_.emplace_back();
  event.type = type;
  event.start = start;
  event.end = end;
}

// The place of the line's end; none to give up.
std::size_t YamlLines::content(std::size_t at) {
  if (!begun_) add(YAML_STREAM_START_EVENT, {}, {});
  begun_ = true;
  if (at == line_start_ && blank_at(at + 3)) {
    std::string_view marker = text_.substr(at, 3);
    if (marker == "---") return document_start(at);
    if (marker == "...") return kNone;
  }
  if (!in_document_) add(YAML_DOCUMENT_START_EVENT, mark(at), mark(at));
  in_document_ = true;
  bool fresh = false;
  return placed(at, fresh) ? entry(at, fresh) : kNone;
}

std::size_t YamlLines::document_start(std::size_t at) {
  yaml_mark_t here = mark(at);
  if (in_document_) {
    if (levels_.empty()) return kNone;
    settle_empty();
    leave(-1, here);
    add(YAML_DOCUMENT_END_EVENT, here, here);
  }
  add(YAML_DOCUMENT_START_EVENT, here, mark(at + 3));
  in_document_ = true;
  return line_end(at + 3);
}

// Finds the block that a line goes on with, from how far in it begins. `fresh`: it begins one.
bool YamlLines::placed(std::size_t at, bool& fresh) {
  auto column = at - line_start_;
  bool dash = dash_at(at);
  fresh = levels_.empty() || (awaits_ && column > levels_.back().column);
  if (fresh) {
    awaits_ = false;
    return true;
  }
  yaml_mark_t here = mark(at);
  if (awaits_ && dash && levels_.back().block == Block::kMap && levels_.back().column == column) {
    awaits_ = false;
    add(YAML_SEQUENCE_START_EVENT, here, mark(at + 1));
    levels_.push_back({Block::kListOfMap, column});
    return true;
  }
  settle_empty();
  leave(static_cast<std::ptrdiff_t>(column), here);
  if (levels_.empty() || levels_.back().column != column) return false;
  if (levels_.back().block == Block::kListOfMap && !dash) {
    levels_.pop_back();
    add(YAML_SEQUENCE_END_EVENT, here, here);
  }
  return dash == (levels_.back().block != Block::kMap);
}

std::size_t YamlLines::entry(std::size_t at, bool fresh) {
  bool item = false;
  for (; dash_at(at); fresh = item = true) {
    yaml_mark_t here = mark(at), after = mark(at + 1);
    if (fresh) {
      add(YAML_SEQUENCE_START_EVENT, here, here);
      levels_.push_back({Block::kList, at - line_start_});
    }
    if (std::size_t end = line_end(at + 1); end != kNone) {
      awaits_ = true;
      awaited_ = after;
      return end;
    }
    at = after_spaces(at + 1);
  }
  std::size_t from = at;
  YamlEvent first;
  if (!scalar(at, first)) return kNone;
  std::size_t colon = after_spaces(at);
  if (char_at(colon) != ':' || !blank_at(colon + 1)) {  // an item
    if (!item) return kNone;
    events_.push_back(first);
    return line_end(at);
  }
  if (colon - from > kLongestKey) return kNone;
  if (fresh) {
    add(YAML_MAPPING_START_EVENT, first.start, first.start);
    levels_.push_back({Block::kMap, from - line_start_});
  }
  events_.push_back(first);
  if (std::size_t end = line_end(colon + 1); end != kNone) {
    awaits_ = true;
    awaited_ = mark(colon + 1);
    return end;
  }
  at = after_spaces(colon + 1);
  YamlEvent& value = events_.emplace_back();
  if (dash_at(at) || !scalar(at, value)) return kNone;
  return line_end(at);
}

bool YamlLines::scalar(std::size_t& at, YamlEvent& event) {
  event.type = YAML_SCALAR_EVENT;
  event.start = mark(at);
  bool read = text_[at] == '"' || text_[at] == '\'' ? quoted(at, event) : plain(at, event);
  event.end = mark(at);
  return read;
}

// To its end, spaces behind it left out.
bool YamlLines::plain(std::size_t& at, YamlEvent& event) const {
  std::size_t from = at;
  if (kIndicator[text_[at]] && (text_[at] != '-' || blank_at(at + 1) || char_at(at + 1) == '\t')) return false;
  for (std::size_t to = at;; ++to) {
    while (to < text_.size() && !kStopsPlain[text_[to]]) ++to;
    char c = char_at(to);
    if (c == '\t') return false;
    if (c == ' ') continue;
    bool last = c == '\n' || (c == ':' && blank_at(to + 1)) || (c == '#' && text_[to - 1] == ' ');
    if (!last) continue;
    at = to;
    while (text_[at - 1] == ' ') --at;
    break;
  }
  event.style = YAML_PLAIN_SCALAR_STYLE;
  event.value = text_.substr(from, at - from);
  return true;
}

bool YamlLines::quoted(std::size_t& at, YamlEvent& event) {
  char quote = text_[at];
  bool twice = quote == '"';
  event.style = twice ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_SINGLE_QUOTED_SCALAR_STYLE;
  std::size_t from = ++at, escapes = 0;
  for (;; ++at) {
    char c = char_at(at);
    if (c == '\n') return false;
    if (twice && c == '\\') {
      if (!escaped(char_at(++at))) return false;
      ++escapes;
    } else if (c == quote) {
      if (twice || char_at(at + 1) != quote) break;
      ++at;
      ++escapes;
    }
  }
  std::string_view raw = text_.substr(from, at++ - from);
  event.value = raw;
  if (escapes == 0) return true;
  char* to = texts_[fillings_ % 2].array<char>(raw.size() - escapes);
  event.value = {to, raw.size() - escapes};
  for (std::size_t i = 0; i < raw.size(); ++i) {
    bool escape = twice ? raw[i] == '\\' : raw[i] == '\'';
    if (escape) ++i;
    *to++ = escape && twice ? escaped(raw[i]) : raw[i];
  }
  return true;
}

void YamlLines::settle_empty() {
  if (!awaits_) return;
  add(YAML_SCALAR_EVENT, awaited_, awaited_);
  events_.back().style = YAML_PLAIN_SCALAR_STYLE;
  awaits_ = false;
}

// Ends the blocks that lie further in.
void YamlLines::leave(std::ptrdiff_t column, const yaml_mark_t& at) {
  while (!levels_.empty() && static_cast<std::ptrdiff_t>(levels_.back().column) > column) {
    add(levels_.back().block == Block::kMap ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT, at, at);
    levels_.pop_back();
  }
}

// The stream ends where a line begins, to libyaml; what lies further in than the last line's end ends before that.
void YamlLines::finish() {
  settle_empty();
  yaml_mark_t end = mark(text_.size());
  leave(static_cast<std::ptrdiff_t>(end.column), end);
  if (end.column != 0) end = {end.index, end.line + 1, 0};
  leave(-1, end);
  add(YAML_DOCUMENT_END_EVENT, end, end);
  add(YAML_STREAM_END_EVENT, end, end);
  sure_ = events_.size();
  ended_ = true;
}

}  // namespace tutti
