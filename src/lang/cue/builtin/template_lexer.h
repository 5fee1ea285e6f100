#pragma once

#include <string>
#include <string_view>

#include "base/types.h"

namespace tutti::cue {

// What is wrong with a template or came up while it ran, in Go's words.
struct TemplateError {
  std::string what;
};

struct TemplateToken {
  enum Kind : u8 {
    kError,
    kBool,
    kChar,  // punctuation without a meaning of its own
    kCharacter,
    kComplex,
    kAssign,
    kDeclare,
    kEnd,  // of the template
    kField,
    kIdentifier,
    kLeftDelimiter,
    kLeftParen,
    kNumber,
    kPipe,
    kRawString,
    kRightDelimiter,
    kRightParen,
    kSpace,
    kString,
    kText,
    kVariable,
    kKeyword,  // those after it are
    kBlock,
    kBreak,
    kContinue,
    kDot,
    kDefine,
    kElse,
    kEndWord,
    kIf,
    kNil,
    kRange,
    kTemplate,
    kWith,
  };
  Kind kind = kEnd;
  std::size_t at = 0;
  std::string text;  // of an error: what is wrong
  std::size_t line = 1;

  std::string shown() const;  // in errors
};

// Text and the words within {{ and }} of a template.
class TemplateLexer {
 public:
  explicit TemplateLexer(std::string_view source) : source_(source) {}

  TemplateToken next();

 private:
  using Kind = TemplateToken::Kind;

  TemplateToken text();
  TemplateToken left_delimiter();
  TemplateToken comment();
  TemplateToken right_delimiter();
  TemplateToken inside();
  TemplateToken space();
  TemplateToken word();
  TemplateToken field_or_variable(Kind kind);
  TemplateToken number();
  TemplateToken quoted(char mark, Kind kind, std::string_view what);
  TemplateToken raw_string();
  bool scan_number();

  char32_t peek() const;  // kPastEnd there
  char32_t take();
  bool accept(std::string_view any);
  void accept_run(std::string_view any);
  bool at_terminator() const;
  bool at_right_delimiter(bool& trims) const;
  std::string_view rest() const { return source_.substr(at_); }
  void ignore() { start_ = at_; }
  TemplateToken made(Kind kind);
  TemplateToken error(std::string what);
  std::size_t line();  // of start_

  std::string_view source_;
  std::size_t at_ = 0, start_ = 0;
  std::size_t counted_ = 0, line_ = 1;  // lines up to here
  std::size_t parens_ = 0;
  bool inside_ = false;
};

}  // namespace tutti::cue
