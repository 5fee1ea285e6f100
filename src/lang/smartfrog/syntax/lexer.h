#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lang/smartfrog/syntax/token.h"
#include "tree/session.h"

namespace tutti::smartfrog {

struct Comment {
  u32 begin = 0, end = 0;  // with its marks, without the end of the line
  bool line_before = false;
  bool blank_before = false;  // an empty line stands above it
};

// A word that is a name in the core and has a meaning of its own at the production level.
bool is_production_word(std::string_view word);

// Text to tokens, one at a time. Comments are passed over; the formatter asks for them to be kept. `\uXXXX` in a
// production source stands for the character everywhere, as in Java: such a source is rewritten first, and places are
// mapped back.
class Lexer {
 public:
  Lexer(Session& session, const Source& source, Level level, std::vector<Comment>* comments = nullptr);

  Token next();

  // To look ahead further than one token.
  struct Mark {
    u32 at;
    std::size_t comments;
  };
  Mark mark() const { return {at_, comments_ ? comments_->size() : 0}; }
  void back_to(Mark m) {
    at_ = m.at;
    if (comments_) comments_->resize(m.comments);
  }

  std::string_view text(const Token& t) const { return text_.substr(t.begin, t.end - t.begin); }
  Pos pos(u32 offset) const { return edits_.empty() ? source_.pos(offset) : mapped(offset); }
  Span span(const Token& t) const { return {pos(t.begin), pos(t.end)}; }
  const Source& source() const { return source_; }
  std::string_view all() const { return text_; }

  // The value of a string token: escapes replaced. In the arena when any were, otherwise in the source itself.
  std::string_view string_value(const Token& t) const;

 private:
  struct Edit {
    u32 at;       // offset in the rewritten text from which on...
    u32 removed;  // ...this many bytes fewer than in the source have been seen
  };

  void rewrite_unicode();
  Pos mapped(u32 offset) const;
  bool skip_space(Token& t);  // false at an unterminated comment
  Token word(Token t);
  Token number(Token t, u32 digits_from);
  Token string(Token t);
  Token hash(Token t);
  Token bad(Token t, u32 end, std::string message, std::string help = {});
  // Of a name beyond ASCII. The mark at the head of a file is none: it would be dropped where a name comes first.
  bool letter(u32 i) const {
    return static_cast<unsigned char>(text_[i]) >= 0x80 && text_.substr(i, 3) != "\xEF\xBB\xBF";
  }
  char at(u32 i) const { return i < text_.size() ? text_[i] : '\0'; }

  Session& session_;
  const Source& source_;
  Level level_;
  std::string_view text_;
  u32 at_ = 0;
  std::vector<Comment>* comments_;
  std::string_view rewritten_;  // in the arena
  std::vector<Edit> edits_;
};

}  // namespace tutti::smartfrog
