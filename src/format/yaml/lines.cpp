#include "base/utf8.h"
#include "format/yaml/parser.h"

// Characters and lines: white space, comments, and where the content of the next line begins.
namespace tutti::yaml {

bool Parser::marker() const {
  if (at_ != line_ || at_ + 3 > text_.size()) return false;
  std::string_view three = text_.substr(at_, 3);
  return (three == "---" || three == "...") && is_blank(peek(3));
}

bool Parser::skip_white() {
  bool tab = false;
  for (; is_white(peek()); ++at_) tab |= peek() == '\t';
  return tab;
}

void Parser::skip_break() {
  if (ended()) return;
  at_ += peek() == '\r' && peek(1) == '\n' ? 2 : 1;
  line_ = at_;
}

void Parser::skip_comment() {
  if (peek() != '#') return;
  if (at_ != line_ && !is_white(text_[at_ - 1])) fail("a comment needs a space before the `#`");
  while (!is_break(peek())) ++at_;
}

void Parser::finish_line() {
  skip_white();
  skip_comment();
  if (is_break(peek())) return;
  if (indicator(':')) fail("a map cannot begin here", "put it on a line of its own, or quotes around the text");
  fail("this does not belong to what stands before it on the line");
}

// Stands at the end of a line or at the beginning of one.
void Parser::next_content() {
  if (at_ == ahead_.from) {
    at_ = ahead_.at;
    line_ = ahead_.line;
    indent_ = ahead_.indent;
    tabbed_ = ahead_.tabbed;
    return;
  }
  tabbed_ = false;
  indent_ = -1;
  if (is_break(peek())) skip_break();
  while (!ended()) {
    while (peek() == ' ') ++at_;
    int spaces = column();
    bool tab = skip_white();
    skip_comment();
    if (!is_break(peek())) {
      indent_ = spaces;
      tabbed_ = tab;
      return;
    }
    skip_break();
  }
}

int Parser::here() const { return ended() || marker() ? -1 : indent_; }

// Only what can be printed may stand in a YAML text.
void Parser::check_characters() const {
  constexpr std::size_t kTogether = 64;  // most of a text is letters, and many of these are looked at at once
  for (std::size_t i = 0; i < text_.size();) {
    if (i + kTogether <= text_.size()) {
      unsigned odd = 0;
      for (std::size_t k = 0; k < kTogether; ++k) {
        auto c = static_cast<unsigned char>(text_[i + k]);
        odd |= static_cast<unsigned>((c < 0x20) & (c != '\n')) | static_cast<unsigned>(c >= 0x7f);
      }
      if (!odd) {
        i += kTogether;
        continue;
      }
    }
    auto c = static_cast<unsigned char>(text_[i]);
    if ((c >= 0x20 && c < 0x7f) || c == '\n') {
      ++i;
      continue;
    }
    std::size_t at = i;
    u32 sign = c < 0x80 ? (++i, c) : utf8::decode(text_, i);
    bool good = sign == '\t' || sign == '\n' || sign == '\r' || sign == 0x85 || sign >= 0xa0;
    if (!good || sign == 0xfffe || sign == 0xffff)
      fail_at(at, "control characters are not allowed", "write it as \\xHH between double quotes");
  }
}

}  // namespace tutti::yaml
