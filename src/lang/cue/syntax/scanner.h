#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/arena.h"
#include "lang/cue/syntax/token.h"

namespace tutti::cue {

struct SyntaxError {
  Pos pos;
  std::string message;
};

struct Token {
  Tok tok = Tok::kIllegal;
  TokenPos pos;
  std::string_view text;  // of literals, comments, attributes; "," or "\n" for a comma
};

// Turns the text of a file into tokens. Newlines become commas where a value may end, as in Go. Interpolated strings
// come in parts: when the parser has read the `)` that ends an expression it calls `resume` for the next part of the
// string.
class Scanner {
 public:
  Scanner(const Source& source, Arena& arena, std::vector<SyntaxError>& errors);

  Token next();
  // The byte behind what was read last; 0 at the end.
  char ahead() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  // The rest of the string whose expression has just ended, from the `)` to the end or the next `\(`.
  std::string_view resume();

 private:
  struct Quote {
    char mark = 0;
    int marks = 1;  // 1, or 3 for a multi-line string
    int hashes = 0;
    std::size_t start = 0;
    bool indented = false;    // `indent` is known
    std::string_view indent;  // what the lines of the text begin with in common
  };

  static constexpr int kEnd = -1;

  int peek(std::size_t n = 0) const {
    return at_ + n < text_.size() ? static_cast<unsigned char>(text_[at_ + n]) : kEnd;
  }
  void advance();  // past one character; reports bytes that are not text
  char32_t character() const;
  bool letter() const;
  bool digit() const;
  void skip_space();
  void skip(u8 kind);  // bytes of that kind
  void error(std::size_t at, std::string message);
  std::string_view without_returns(std::string_view text);
  TokenPos place(std::size_t at, Rel rel) const { return {source_.pos(at), rel, false, true}; }

  void words();  // letters, digits, _ and $
  Token number(bool after_point);
  void mantissa(int base);
  bool escape(const Quote& quote);  // true at an interpolation
  bool closes(int ch, const Quote& quote);
  int hashes(int most);
  std::string_view string(std::size_t from, Quote quote, bool continued, Tok& tok);
  Token quoted(std::size_t from, char mark, int hashes);
  void attribute_tokens(Tok close);

  const Source& source_;
  std::string_view text_;
  Arena& arena_;
  std::vector<SyntaxError>& errors_;
  std::size_t at_ = 0;
  bool comma_at_newline_ = false;
  bool explicit_comma_ = false;
  int lines_ = 0, spaces_ = 0;
  std::vector<Quote> quotes_;
  int attribute_depth_ = 0;
};

}  // namespace tutti::cue
