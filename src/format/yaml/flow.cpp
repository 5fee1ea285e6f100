#include "format/yaml/parser.h"

// Flow nodes: what stands within brackets and braces. They may go over several lines, each of which has to be further
// to the right than the block node around them.
namespace tutti::yaml {

// To the next thing that is no space, comment or line break.
void Parser::flow_space(int indent) {
  for (;;) {
    skip_white();
    skip_comment();
    if (!is_break(peek())) return;
    if (ended()) return;
    settle_all();
    skip_break();
    while (peek() == ' ') ++at_;
    int spaces = column();
    bool tab = skip_white();
    if (is_break(peek()) || peek() == '#') {
      skip_comment();
      continue;
    }
    if (marker()) fail("the document ends within brackets", "close them before it");
    // A bracket that closes may be as far to the left as what it was opened behind: the specification wants it further
    // to the right, but that is how people write it, and nobody can read it as anything else.
    bool closes = peek() == ']' || peek() == '}';
    if (closes ? spaces >= indent : spaces > indent) return;
    if (tab) fail("a tab may not stand where spaces indent", "indent with spaces");
    fail("this line stands within a bracket, and is no further to the right than what the bracket belongs to",
         "close the bracket before it, or indent the line");
  }
}

bool Parser::flow_absent() const { return peek() == ',' || peek() == ']' || peek() == '}' || ended(); }

// Whether a colon stands here that leads to a value. Behind quotes and brackets it needs no space after it.
bool Parser::flow_colon(bool behind_json) const {
  return peek() == ':' && (behind_json || is_blank(peek(1)) || is_flow_indicator(peek(1)));
}

void Parser::flow_collection(int indent, const Properties& properties) {
  bool list = peek() == '[';
  emit(list ? Event::kListStart : Event::kMapStart, at_, at_ + 1, properties);
  brackets_.push_back(at_);
  ++at_;
  flow_entries(indent, list);
  brackets_.pop_back();
  ++at_;
  emit(list ? Event::kListEnd : Event::kMapEnd, at_ - 1, at_);
}

namespace {
constexpr std::string_view kNoEntry = "there is nothing before this comma";
}

// The entries of a list or map, to its bracket.
void Parser::flow_entries(int indent, bool list) {
  const char closing = list ? ']' : '}', other = list ? '}' : ']';
  const std::string_view open = list ? "the bracket `[` is not closed" : "the brace `{` is not closed";
  for (;;) {
    flow_space(indent);
    if (peek() == closing) return;
    if (ended()) fail(open);
    if (peek() == ',') fail(kNoEntry);
    if (peek() == other && list) fail("this closes no brace", "close the bracket `[` with `]`");
    if (peek() == other) fail("this closes no bracket", "close the brace `{` with `}`");
    if (list)
      flow_list_entry(indent);
    else
      flow_map_entry(indent);
    flow_space(indent);
    if (peek() == ',')
      ++at_;
    else if (peek() != closing)
      fail(ended() ? open : "there is no comma before this");
  }
}

// Behind a key: its value, if there is one.
void Parser::flow_value(int indent) {
  flow_space(indent);
  if (flow_absent())
    empty(at_);
  else
    flow_node(indent);
}

// `? key : value`, either of which may be absent.
void Parser::flow_pair(int indent) {
  ++at_;
  flow_space(indent);
  bool json = false;
  if (flow_absent() || flow_colon(false))
    empty(at_);
  else
    json = flow_node(indent);
  flow_space(indent);
  if (!flow_colon(json)) return empty(at_);
  ++at_;
  flow_value(indent);
}

void Parser::flow_map_entry(int indent) {
  if (peek() == '?' && (is_blank(peek(1)) || is_flow_indicator(peek(1)))) return flow_pair(indent);
  bool json = false;
  if (flow_colon(false))
    empty(at_);
  else
    json = flow_node(indent);
  flow_space(indent);
  if (!flow_colon(json)) return empty(at_);
  ++at_;
  flow_value(indent);
}

// An entry of a list may be a pair without braces: `[a: 1]` is `[{a: 1}]`.
void Parser::flow_list_entry(int indent) {
  std::size_t start = at_, line = line_;
  if (peek() == '?' && (is_blank(peek(1)) || is_flow_indicator(peek(1)))) {
    emit(Event::kMapStart, start, start);
    flow_pair(indent);
    emit(Event::kMapEnd, at_, at_);
    return;
  }
  u64 candidate = hold(start, {});
  bool json = false;
  if (flow_colon(false))
    empty(at_);
  else
    json = flow_node(indent);
  std::size_t end = at_;
  skip_white();
  if (line == line_ && may_be_key(candidate) && flow_colon(json)) {
    begin_map_at(candidate);
    ++at_;
    flow_value(indent);
    emit(Event::kMapEnd, at_, at_);
    return;
  }
  at_ = end;
  settle(candidate);
}

// Whether it is of a kind that JSON has, too.
bool Parser::flow_node(int indent) {
  Properties own;
  if (peek() == '&' || peek() == '!') {
    own = properties(true);
    flow_space(indent);
    if (flow_absent() || flow_colon(false)) {
      empty(at_, own);
      return false;
    }
  }
  if (peek() == '[' || peek() == '{') {
    flow_collection(indent, own);
    return true;
  }
  std::size_t start = at_;
  scalar(indent, true, own);
  if (scalar_.item.event == Event::kAlias && own.any()) fail_at(start, "an alias has no anchor or tag of its own");
  emit(scalar_.item);
  return scalar_.json_like;
}

}  // namespace tutti::yaml
