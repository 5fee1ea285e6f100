#include "format/yaml/parser.h"

#include <algorithm>

// Documents and block nodes. Whoever reads a block node leaves the parser where the next content begins, on a line
// behind it; how far to the right that is tells every caller whether it goes on.
namespace tutti::yaml {

std::optional<Problem> Parser::parse() {
  try {
    check_characters();
    stream();
    return std::nullopt;
  } catch (const Problem& problem) {
    return problem;
  }
}

void Parser::stream() {
  bool first = true, closed = true;  // closed: directives may stand here
  for (;;) {
    if (text_.substr(at_).starts_with("\xEF\xBB\xBF")) line_ = at_ += 3;
    next_content();
    if (ended()) break;
    bool directed = false;
    if (peek() == '%' && column() == 0) {
      if (!closed) fail("directives stand behind a line with `...`");
      directed = directives();
    }
    bool explicit_start = marker() && peek() == '-';
    if (directed && !explicit_start) fail("behind directives comes a line with `---`");
    if (marker() && !explicit_start) {  // `...` without a document
      at_ += 3;
      finish_line();
      closed = true;
      continue;
    }
    if (!explicit_start && !first && !closed) fail("another document begins with `---`");
    document(explicit_start);
    first = closed = false;
    if (ended()) break;
    if (!marker()) fail("this does not belong to the document before it");
    if (peek() == '.') {
      at_ += 3;
      finish_line();
      closed = true;
    }
  }
}

bool Parser::directives() {
  bool version = false;
  while (peek() == '%' && column() == 0) {
    std::size_t start = at_++;
    std::size_t end = at_;
    while (end < text_.size() && !is_blank(text_[end])) ++end;
    std::string_view name = text_.substr(at_, end - at_);
    at_ = end;
    if (name == "YAML") {
      if (version) fail_at(start, "the version is there twice");
      version = true;
      version_directive();
      finish_line();
    } else if (name == "TAG") {
      tag_directive();
      finish_line();
    } else {
      while (!is_break(peek())) ++at_;  // of a later version: nobody knows what it means
    }
    next_content();
  }
  return true;
}

void Parser::document(bool explicit_start) {
  emit(Event::kDocumentStart, at_, at_);
  if (explicit_start) at_ += 3;
  block_node({.indent = -1, .fresh = !explicit_start});
  if (here() >= 0) {
    if (tabbed_) fail("a tab may not stand where spaces indent");
    fail("this does not belong to the document before it", "another document begins with `---`");
  }
  emit(Event::kDocumentEnd, at_, at_);
  handles_.clear();
  texts_.clear();
}

// To the content on the lines below; false when that is not of this node any more.
bool Parser::content_below(const Place& place) {
  finish_line();
  next_content();
  if (here() > place.indent) return true;
  return place.dash_here && here() == place.indent && indicator('-') && !tabbed_;
}

void Parser::block_node(Place place) {
  Properties outer;
  std::size_t begun = at_;
  bool tab = place.fresh ? tabbed_ : skip_white();
  for (;;) {
    if (is_break(peek()) || peek() == '#') {
      if (!content_below(place)) return empty(begun, outer);
      place.fresh = true;
      tab = tabbed_;
    }
    std::size_t start = at_;
    if (peek() != '&' && peek() != '!') return block_content(place, tab, outer, {}, start);
    Properties inner = properties(false);
    if (!is_break(peek()) && peek() != '#') return block_content(place, tab, outer, inner, start);
    outer = merged(outer, inner);
    begun = at_;
  }
}

void Parser::block_content(const Place& place, bool tab, const Properties& outer, const Properties& inner,
                           std::size_t start) {
  bool dash = indicator('-'), question = indicator('?');
  bool may_begin = (place.fresh || place.compact) && !tab;
  if (dash || question) {
    if (tab && place.fresh) fail("a tab may not stand where spaces indent", "indent with spaces");
    if (tab) fail("a list or map behind an indicator and a tab", "put spaces between them");
    if (!may_begin || inner.any()) fail("a list or map cannot begin here", "put it on a line of its own");
    if (dash) return list(outer, start);
    return map(outer, start, static_cast<int>(start - line_));
  }
  if (peek() == '|' || peek() == '>') return block_scalar(place.indent, merged(outer, inner));
  inline_node(place.indent, outer, inner, start, may_begin ? AsKey::kFirst : AsKey::kNo);
}

void Parser::list(const Properties& properties, std::size_t start) {
  int indent = column();
  emit(Event::kListStart, start, at_ + 1, properties);
  do {
    ++at_;
    block_node({.indent = indent, .compact = true});
  } while (here() == indent && indicator('-') && !tabbed_);
  if (here() > indent) fail("this is indented further than the list it stands in, and belongs to none of its items");
  emit(Event::kListEnd, at_, at_);
}

// One that begins with `?`; the others are known as maps only behind their first key.
void Parser::map(const Properties& properties, std::size_t start, int indent) {
  emit(Event::kMapStart, start, start, properties);
  explicit_entry(indent);
  rest_of_map(indent);
}

void Parser::rest_of_map(int indent) {
  while (here() == indent && map_entry(indent)) {
  }
  if (here() > indent) {
    if (tabbed_) fail("a tab may not stand where spaces indent", "indent with spaces");
    fail("this is indented further than the keys of the map it stands in", "begin it where the keys begin");
  }
  emit(Event::kMapEnd, at_, at_);
}

// False when what stands here is no entry.
bool Parser::map_entry(int indent) {
  if (tabbed_) fail("a tab may not stand where spaces indent", "indent with spaces");
  if (indicator('-')) return false;
  if (indicator('?')) {
    explicit_entry(indent);
    return true;
  }
  std::size_t start = at_;
  Properties own;
  if (peek() == '&' || peek() == '!') own = properties(false);
  inline_node(indent, {}, own, start, AsKey::kNext);
  return true;
}

void Parser::explicit_entry(int indent) {
  ++at_;
  block_node({.indent = indent, .compact = true, .dash_here = true});
  if (here() != indent || !indicator(':') || tabbed_) return empty(at_);
  ++at_;
  block_node({.indent = indent, .compact = true, .dash_here = true});
}

// Stands at the colon.
void Parser::value_behind_key(int indent) {
  ++at_;
  block_node({.indent = indent, .dash_here = true});
}

// A scalar, an alias or a flow collection. Behind it a colon may show that it was a key.
void Parser::inline_node(int indent, const Properties& outer, const Properties& inner, std::size_t start,
                         AsKey as_key) {
  std::size_t line = line_, begun = at_;
  int column = static_cast<int>(start - line);
  bool none = indicator(':') && as_key != AsKey::kNo;  // a key that is nothing
  bool collection = !none && (peek() == '[' || peek() == '{');
  u64 candidate = 0;
  if (none) {
    scalar_ = {};
    scalar_.item = {Event::kScalar, true, {}, inner.tag, inner.anchor, inner.start_of(at_), at_};
  } else if (collection) {
    if (as_key != AsKey::kNo) candidate = hold(start, as_key == AsKey::kFirst ? outer : Properties{});
    flow_collection(indent, outer.any() && !inner.any() && as_key != AsKey::kFirst ? outer : inner);
  } else {
    scalar(indent, false, inner);
  }
  bool one_line = line == line_;
  std::size_t end = at_;
  skip_white();
  if (indicator(':') && as_key != AsKey::kNo) {
    if (!one_line) fail_at(begun, "a key has to stand on one line", "put `? ` before it, and `: ` before its value");
    if (scalar_.item.event == Event::kAlias && !collection && inner.any())
      fail_at(start, "an alias has no anchor or tag of its own");
    if (collection && !may_be_key(candidate)) fail_at(begun, "a key of more than 1024 signs", "put `? ` before it");
    if (as_key == AsKey::kFirst && collection) begin_map_at(candidate);
    if (as_key == AsKey::kFirst && !collection) emit(Event::kMapStart, start, start, outer);
    if (as_key == AsKey::kNext && collection) settle(candidate);
    if (!collection) emit(scalar_.item);
    int keys = as_key == AsKey::kFirst ? column : indent;
    value_behind_key(keys);
    if (as_key == AsKey::kFirst) rest_of_map(keys);
    return;
  }
  if (as_key == AsKey::kNext) fail_at(begun, "there is no `:` behind this key", "write `key: value`");
  at_ = end;
  if (collection) {
    if (outer.any() && inner.any()) fail_at(begun, "this has two anchors or two tags");
    if (candidate) settle(candidate);
  } else {
    Properties own = merged(outer, inner);
    if (scalar_.item.event == Event::kAlias && own.any()) fail_at(begun, "an alias has no anchor or tag of its own");
    scalar_.item.tag = own.tag;
    scalar_.item.anchor = own.anchor;
    scalar_.item.start = own.start_of(scalar_.item.start);
    emit(scalar_.item);
  }
  finish_line();
  next_content();
}

namespace {

struct Header {
  char chomp = ' ';  // `-`: no line break at the end, `+`: all of them
  int indent = 0;    // 0: that of the first line
};

}  // namespace

// `|` and `>`.
void Parser::block_scalar(int indent, const Properties& properties) {
  std::size_t start = at_;
  bool fold = peek() == '>';
  Header header;
  for (++at_; peek() == '-' || peek() == '+' || (peek() >= '1' && peek() <= '9'); ++at_) {
    bool digit = peek() >= '1' && peek() <= '9';
    if (digit ? header.indent != 0 : header.chomp != ' ') fail("the head of a block of text says this twice");
    if (digit)
      header.indent = peek() - '0';
    else
      header.chomp = peek();
  }
  finish_line();
  skip_break();
  int content = header.indent ? std::max(indent, 0) + header.indent : -1;
  folded_.clear();
  std::size_t breaks = 0;  // since the last line with text
  int deepest = 0;         // spaces on empty lines before the first with text
  bool any = false, deeper_before = false;
  while (!ended() && !marker()) {
    while (peek() == ' ' && (content < 0 || column() < content)) ++at_;
    int spaces = column();
    if (is_break(peek()) && (content < 0 || spaces <= content)) {
      deepest = std::max(deepest, spaces);
      if (!ended() || spaces > 0) ++breaks;
      skip_break();
      continue;
    }
    if (content < 0) {
      if (peek() == '\t' && spaces <= indent) fail("a tab may not stand where spaces indent", "indent with spaces");
      if (spaces <= indent) break;
      if (deepest > spaces) fail("an empty line before this one is indented further", "take spaces away from it");
      content = spaces;
    }
    if (spaces < content) break;
    std::size_t end = at_;
    while (!is_break(end < text_.size() ? text_[end] : '\0')) ++end;
    std::string_view line = text_.substr(at_, end - at_);
    bool deeper = is_white(line.front());
    if (!any || !fold || deeper || deeper_before)
      folded_.append(breaks, '\n');
    else
      folded_ += breaks == 1 ? std::string(1, ' ') : std::string(breaks - 1, '\n');
    folded_ += line;
    any = true;
    deeper_before = deeper;
    at_ = end;
    // The last line of a text may lack its break. White space alone is an empty line then, as if it had one.
    breaks = !ended() || line.find_first_not_of(" \t") == std::string_view::npos ? 1 : 0;
    skip_break();
  }
  std::size_t end = at_;
  if (!ended()) at_ = line_;
  if (header.chomp == '+')
    folded_.append(breaks, '\n');
  else if (header.chomp == ' ' && any && breaks > 0)
    folded_ += '\n';
  emit({Event::kScalar, false, folded_, properties.tag, properties.anchor, properties.start_of(start), end});
  if (!ended())
    next_content();
  else
    indent_ = -1;
}

}  // namespace tutti::yaml
