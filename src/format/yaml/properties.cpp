#include <algorithm>

#include "format/yaml/parser.h"

// Anchors, tags and directives; and how items are handed over, which waits as long as what was read last may turn out
// to be the key of a map.
namespace tutti::yaml {
namespace {

constexpr std::size_t kLongestKey = 1024;  // a key without `?` may be as long, says the specification
constexpr std::string_view kCore = "tag:yaml.org,2002:";

bool is_word(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; }

}  // namespace

// Behind them stands the end of the line, or what they are of.
Properties Parser::properties(bool flow) {
  Properties out;
  out.start = at_;
  while (peek() == '&' || peek() == '!') {
    std::string_view& what = peek() == '&' ? out.anchor : out.tag;
    if (!what.empty()) fail("this has two anchors or two tags");
    if (peek() == '&') {
      ++at_;
      what = anchor_name();
    } else {
      what = tag();
    }
    if (!is_blank(peek()) && !(flow && is_flow_indicator(peek()))) fail("behind an anchor or tag comes a space");
    skip_white();
  }
  return out;
}

std::string_view Parser::anchor_name() {
  std::size_t start = at_;
  while (!is_blank(peek()) && !is_flow_indicator(peek())) ++at_;
  if (at_ == start) fail("here stands the name of an anchor");
  return text_.substr(start, at_ - start);
}

// The characters of a tag, with what is written as %HH.
std::string_view Parser::tag_text(std::string_view also) {
  constexpr std::string_view kSigns = "#;/?:@&=+$_.~*'()";
  std::string out;
  for (;;) {
    char c = peek();
    if (c == '%') {
      ++at_;
      out += static_cast<char>(hex(2));
    } else if (is_word(c) || kSigns.find(c) != std::string_view::npos || also.find(c) != std::string_view::npos) {
      if (c == '\0') break;
      out += c;
      ++at_;
    } else {
      break;
    }
  }
  return texts_.copy(out);
}

std::string_view Parser::tag() {
  std::size_t start = at_++;
  if (peek() == '<') {
    ++at_;
    std::string_view whole = tag_text("!,[]");
    if (peek() != '>' || whole.empty()) fail("the tag `!<...` is not closed");
    ++at_;
    return whole;
  }
  std::size_t end = at_;
  while (end < text_.size() && is_word(text_[end])) ++end;
  std::string_view handle = "!";
  if (end < text_.size() && text_[end] == '!') {
    handle = text_.substr(start, end + 1 - start);
    at_ = end + 1;
  }
  std::string_view name = tag_text("");
  if (name.empty() && handle == "!") return "!";
  if (name.empty()) fail_at(start, "the tag has no name");
  auto known = handles_.find(handle);
  if (known != handles_.end()) return texts_.copy(known->second + std::string(name));
  if (handle == "!") return texts_.copy("!" + std::string(name));
  if (handle == "!!") return texts_.copy(std::string(kCore) + std::string(name));
  fail_at(start, "nothing says what this prefix of a tag is", "say it before the document: %TAG !prefix! URI");
}

// Behind the word.
void Parser::tag_directive() {
  skip_white();
  std::size_t start = at_;
  if (peek() != '!') fail("here stands the prefix of tags, such as `!x!`");
  ++at_;
  while (is_word(peek())) ++at_;
  if (peek() == '!') ++at_;
  std::string handle(text_.substr(start, at_ - start));
  if (!is_white(peek())) fail("behind the prefix of tags comes what it stands for");
  skip_white();
  std::string_view stands_for = tag_text("!,[]");
  if (stands_for.empty()) fail("behind the prefix of tags comes what it stands for");
  if (!is_blank(peek())) fail("this cannot stand in a tag");
  if (!handles_.emplace(handle, stands_for).second) fail_at(start, "this prefix of tags is there twice");
}

void Parser::version_directive() {
  skip_white();
  std::size_t start = at_;
  auto digits = [&] {
    std::size_t from = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > from;
  };
  bool good = peek() == '1' && peek(1) == '.';
  good = digits() && good && peek() == '.';
  if (good) ++at_;
  if (!good || !digits()) fail_at(start, "this is read as YAML 1.2", "write %YAML 1.2, or nothing");
  if (!is_blank(peek())) fail("behind the version comes the end of the line");
}

// What stands on a line before a node belongs to it as what stands on its own line does.
Properties Parser::merged(const Properties& outer, const Properties& inner) const {
  if (!outer.any()) return inner;
  if (!inner.any()) return outer;
  bool twice = (!outer.anchor.empty() && !inner.anchor.empty()) || (!outer.tag.empty() && !inner.tag.empty());
  if (twice) fail_at(inner.start, "this has two anchors or two tags");
  return {outer.anchor.empty() ? inner.anchor : outer.anchor, outer.tag.empty() ? inner.tag : outer.tag, outer.start};
}

void Parser::emit(Event event, std::size_t start, std::size_t end, const Properties& properties) {
  emit({event, false, {}, properties.tag, properties.anchor, properties.start_of(start), end});
}

void Parser::empty(std::size_t at, const Properties& properties) {
  emit({Event::kScalar, true, {}, properties.tag, properties.anchor, properties.start_of(at), at});
}

void Parser::emit(Item item) {
  if (candidates_.empty()) return handler_.on(item);
  bool in_source = item.value.data() >= text_.data() && item.value.data() <= text_.data() + text_.size();
  if (!in_source && !item.value.empty()) item.value = held_texts_.emplace_back(item.value);
  held_.push_back(item);
  while (!candidates_.empty() && at_ - candidates_.front().start > kLongestKey) settle_first();
}

u64 Parser::hold(std::size_t start, const Properties& outer) {
  candidates_.push_back({++last_id_, handed_ + held_.size(), start, outer});
  return last_id_;
}

void Parser::begin_map_at(u64) {
  Candidate c = candidates_.back();
  candidates_.pop_back();
  auto where = held_.begin() + static_cast<std::ptrdiff_t>(c.first - handed_);
  held_.insert(where, Item{Event::kMapStart, false, {}, c.outer.tag, c.outer.anchor, c.start, c.start});
  if (candidates_.empty()) hand_over();
}

void Parser::settle(u64 candidate) {
  if (!may_be_key(candidate)) return;
  Candidate c = candidates_.back();
  candidates_.pop_back();
  Item& first = held_[c.first - handed_];
  if (c.outer.any()) first.tag = c.outer.tag, first.anchor = c.outer.anchor;
  if (candidates_.empty()) hand_over();
}

void Parser::settle_first() {
  Candidate c = candidates_.front();
  candidates_.pop_front();
  if (c.first - handed_ < held_.size())
    if (Item& first = held_[c.first - handed_]; c.outer.any()) first.tag = c.outer.tag, first.anchor = c.outer.anchor;
  if (candidates_.empty()) return hand_over();
  for (; handed_ < candidates_.front().first; ++handed_) {
    handler_.on(held_.front());
    held_.pop_front();
  }
}

void Parser::settle_all() {
  while (!candidates_.empty()) settle_first();
}

void Parser::hand_over() {
  for (const Item& item : held_) handler_.on(item);
  handed_ += held_.size();
  held_.clear();
  held_texts_.clear();
}

}  // namespace tutti::yaml
