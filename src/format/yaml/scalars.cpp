#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "format/yaml/parser.h"

// Scalars on one line or several: plain, 'quoted', "quoted". What stands in the source as it is is not copied.
namespace tutti::yaml {
namespace {

constexpr std::string_view kNeverFirst = ",[]{}#&*!|>'\"%@`";

// The signs at which a plain text may end: most others are passed over without a further look.
constexpr auto kMayEndPlain = [] {
  std::array<bool, 256> out{};
  for (unsigned char c : {'\n', '\r', ' ', '\t', '#', ':', ',', '[', ']', '{', '}'}) out[c] = true;
  return out;
}();

}  // namespace

bool Parser::begins_plain(bool flow) const {
  char c = peek();
  if (c != '-' && c != '?' && c != ':') return !is_blank(c) && kNeverFirst.find(c) == std::string_view::npos;
  return !is_blank(peek(1)) && !(flow && is_flow_indicator(peek(1)));
}

void Parser::scalar(int indent, bool flow, const Properties& own) {
  Item item{Event::kScalar, false, {}, own.tag, own.anchor, own.start_of(at_), at_};
  bool json = false;
  if (peek() == '*') {
    item.event = Event::kAlias;
    ++at_;
    item.value = anchor_name();
  } else if (peek() == '"' || peek() == '\'') {
    json = true;
    item.value = quoted(indent, peek());
  } else {
    if (!begins_plain(flow)) {
      if (ended()) fail("something is missing at the end");
      if (peek() == '%' || peek() == '@' || peek() == '`')
        fail("no text may begin with this sign", "put quotes around the text");
      if (peek() == '\t') fail("a tab may not stand here", "use spaces");
      fail("this cannot stand here", "if it is text, put quotes around it");
    }
    item.plain = true;
    item.value = plain(indent, flow);
  }
  item.end = at_;
  scalar_ = {item, json};
}

// To the end of a plain text's part on this line; white space at its end does not belong to it. Its length.
std::size_t Parser::plain_line(bool flow) {
  const std::size_t start = at_, size = text_.size();
  std::size_t end = at_;
  for (std::size_t at = at_;; ++at) {
    std::size_t run = at;
    while (at < size && !kMayEndPlain[static_cast<unsigned char>(text_[at])]) ++at;
    if (at > run) end = at;
    if (at == size) break;
    char c = text_[at], next = at + 1 < size ? text_[at + 1] : '\0';
    if (is_white(c)) continue;
    if (c == '\n' || c == '\r') break;
    if (c == '#' && at > start && is_white(text_[at - 1])) break;
    if (c == ':' && (is_blank(next) || (flow && is_flow_indicator(next)))) break;
    if (flow && is_flow_indicator(c)) break;
    end = at + 1;
  }
  at_ = end;
  return end - start;
}

// Whether the text goes on on a line below, where the parser stands then.
bool Parser::continues_plain(int indent, std::size_t& breaks) {
  skip_white();
  if (!is_break(peek())) return false;
  breaks = 0;
  int spaces = 0;
  bool tab = false;
  std::size_t from = at_;
  while (is_break(peek())) {
    if (ended()) return false;
    skip_break();
    ++breaks;
    while (peek() == ' ') ++at_;
    spaces = column();
    tab = skip_white();
  }
  if (peek() == '#') return false;
  ahead_ = {from, at_, line_, spaces, tab};
  return spaces > indent && !marker();
}

std::string_view Parser::plain(int indent, bool flow) {
  std::size_t start = at_;
  std::string_view text = text_.substr(start, plain_line(flow));
  bool several = false;
  for (;;) {
    std::size_t end = at_, line = line_, breaks = 0, length = 0, from = 0;
    if (continues_plain(indent, breaks)) {
      from = at_;
      length = plain_line(flow);
    }
    if (length == 0) {
      at_ = end;
      line_ = line;
      return several ? std::string_view(folded_) : text;
    }
    settle_all();
    if (!several) folded_ = text;
    several = true;
    folded_ += breaks == 1 ? std::string(1, ' ') : std::string(breaks - 1, '\n');
    folded_ += text_.substr(from, length);
  }
}

std::string_view Parser::quoted(int indent, char quote) {
  std::size_t start = ++at_;
  std::string_view special = quote == '"' ? "\"\\\n\r" : "'\n\r";
  std::size_t next = text_.find_first_of(special, start);
  if (next != std::string_view::npos && text_[next] == quote &&
      !(quote == '\'' && text_.substr(next + 1).starts_with('\''))) {
    at_ = next + 1;
    return text_.substr(start, next - start);
  }
  folded_.clear();
  kept_ = 0;
  for (;;) {
    next = std::min(text_.find_first_of(special, at_), text_.size());
    folded_ += text_.substr(at_, next - at_);
    at_ = next;
    if (ended()) fail_at(start - 1, "the quote is not closed");
    char c = peek();
    if (c == quote) {
      ++at_;
      if (quote == '"' || peek() != '\'') return folded_;
      folded_ += '\'';
      ++at_;
    } else if (c == '\\') {
      if (peek(1) == '\n' || peek(1) == '\r') {
        ++at_;
        fold_quoted(indent, true);
      } else {
        escape();
      }
    } else {
      fold_quoted(indent, false);
    }
  }
}

// One line break is a space, several are one less; an escaped one is nothing. White space around it goes.
void Parser::fold_quoted(int indent, bool escaped) {
  settle_all();
  if (!escaped)
    while (folded_.size() > kept_ && is_white(folded_.back())) folded_.pop_back();
  std::size_t breaks = 0;
  int spaces = 0;
  do {
    skip_break();
    ++breaks;
    while (peek() == ' ') ++at_;
    spaces = column();
    if (marker()) fail("the document ends within quotes", "close them before it");
    skip_white();
  } while (!ended() && is_break(peek()));
  if (ended()) fail("the quote is not closed");
  if (spaces <= indent)
    fail("within quotes, lines are indented further than what the quotes stand in", "indent the line");
  if (breaks > 1)
    folded_.append(breaks - 1, '\n');
  else if (!escaped)
    folded_ += ' ';
  kept_ = folded_.size();
}

u32 Parser::hex(std::size_t digits) {
  u32 out = 0;
  for (std::size_t i = 0; i < digits; ++i, ++at_) {
    char c = peek();
    u32 digit = c >= '0' && c <= '9'   ? static_cast<u32>(c - '0')
                : c >= 'a' && c <= 'f' ? static_cast<u32>(c - 'a' + 10)
                : c >= 'A' && c <= 'F' ? static_cast<u32>(c - 'A' + 10)
                                       : 16;
    if (digit == 16) fail("here stands a hexadecimal digit");
    out = out * 16 + digit;
  }
  return out;
}

void Parser::escape() {
  struct Escape {
    char sign;
    std::string_view text;
  };
  static constexpr std::array kEscapes = {Escape{'0', std::string_view("\0", 1)},
                                          Escape{'a', "\a"},
                                          Escape{'b', "\b"},
                                          Escape{'t', "\t"},
                                          Escape{'\t', "\t"},
                                          Escape{'n', "\n"},
                                          Escape{'v', "\v"},
                                          Escape{'f', "\f"},
                                          Escape{'r', "\r"},
                                          Escape{'e', "\x1b"},
                                          Escape{' ', " "},
                                          Escape{'"', "\""},
                                          Escape{'/', "/"},
                                          Escape{'\\', "\\"},
                                          Escape{'N', "\xc2\x85"},
                                          Escape{'_', "\xc2\xa0"},
                                          Escape{'L', "\xe2\x80\xa8"},
                                          Escape{'P', "\xe2\x80\xa9"}};
  std::size_t start = at_++;
  char c = peek();
  ++at_;
  for (const Escape& e : kEscapes)
    if (e.sign == c) {
      folded_ += e.text;
      kept_ = folded_.size();
      return;
    }
  if (c != 'x' && c != 'u' && c != 'U')
    fail_at(start, "there is no such escape", "write `\\\\` for a backslash, or use single quotes");
  u32 sign = hex(c == 'x' ? 2 : c == 'u' ? 4 : 8);
  bool high = sign >= 0xd800 && sign < 0xdc00;
  if (high && peek() == '\\' && peek(1) == 'u') {  // two halves, as JSON writes them
    at_ += 2;
    u32 low = hex(4);
    if (low < 0xdc00 || low > 0xdfff) fail_at(start, "half of a pair of escapes");
    sign = 0x10000 + ((sign - 0xd800) << 10) + (low - 0xdc00);
  } else if ((sign >= 0xd800 && sign <= 0xdfff) || sign > 0x10ffff) {
    fail_at(start, "there is no such character");
  }
  utf8::append(folded_, sign);
  kept_ = folded_.size();
}

}  // namespace tutti::yaml
