#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "base/types.h"

namespace tutti::cue::templates {

struct Item {
  enum Kind : u8 {
    kError,
    kBool,
    kChar,
    kCharConstant,
    kComplex,
    kAssign,
    kDeclare,
    kEof,
    kField,
    kIdentifier,
    kLeftDelim,
    kLeftParen,
    kNumber,
    kPipe,
    kRawString,
    kRightDelim,
    kRightParen,
    kSpace,
    kString,
    kText,
    kVariable,
    kKeyword,  // only separates: the keywords follow
    kBlock,
    kBreak,
    kContinue,
    kDot,
    kDefine,
    kElse,
    kEnd,
    kIf,
    kNil,
    kRange,
    kTemplate,
    kWith
  } kind = kEof;
  std::size_t pos = 0;
  std::string val;
  int line = 1;

  std::string shown() const;
};

// The items of a template one after the other.
class Lexer {
 public:
  explicit Lexer(std::string_view input) : in_(input) {}
  Item next();

 private:
  enum class In : u8 { kText, kLeftDelim, kAction, kRightDelim, kDone };
  void step();
  void text();
  void left_delim();
  void comment();
  void inside();
  void right_delim();
  void spaces();
  void identifier();
  void field_or_variable(Item::Kind kind);
  void quoted(char mark, Item::Kind kind, const char* wrong);
  void raw();
  void number();
  bool scan_number();
  bool accept(std::string_view any);
  void accept_run(std::string_view any);
  bool at_terminator() const;
  bool at_right_delim(bool& trims) const;
  char32_t rune(std::size_t& at) const;
  void emit(Item::Kind kind);
  void ignore();
  void fail(std::string what);

  std::string_view in_;
  std::size_t pos_ = 0, start_ = 0;
  int line_ = 1, start_line_ = 1, parens_ = 0;
  In state_ = In::kText;
  std::deque<Item> items_;
};

}  // namespace tutti::cue::templates
