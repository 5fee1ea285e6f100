#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/cue/format/format.h"

namespace tutti::cue {

// What may be put between two tokens, collected as a set until the next token is printed.
using Space = u32;
enum : Space {
  kSpBlank = 1 << 0,
  kSpColumn = 1 << 1,  // the next cell of a table
  kSpNoBlank = 1 << 2,
  kSpNoOverride = 1 << 3,  // the source's own layout does not count here
  kSpComma = 1 << 4,
  kSpTrailComma = 1 << 5,  // the comma only before a line break
  kSpDeclComma = 1 << 6,   // a comma unless the line ends
  kSpNewline = 1 << 7,     // next line of the table
  kSpFormFeed = 1 << 8,    // next line, and a new table
  kSpNewSection = 1 << 9,  // an empty line between
  kSpIndent = 1 << 10,     // one level more after the next line break
  kSpUnindent = 1 << 11,
  kSpIndented = 1 << 12,  // (on the stack) the level was used
};

// Writes tokens with the white space that formatter and source agree on. The result still has the marks of TabWriter in
// it.
class Printer {
 public:
  explicit Printer(const FormatOptions& options) : options_(options) {}

  void space(Space s) { allowed_ |= s; }
  void place(TokenPos pos);  // the source's layout before the next token
  void token(Tok t);
  void word(std::string_view text, Tok as, bool literal);  // text printed as it is
  void literal(Tok kind, std::string_view text);
  void comment_place(const ast::CommentGroup& group);
  void comment(std::string_view text);
  void end_of_file();

  // The indentation stack, by hand.
  void drop_indent();
  void less_indent() { --indent_; }

  int line() const { return line_; }
  int column() const { return column_; }
  bool empty() const { return out_.empty(); }
  Tok last() const { return last_; }
  bool brace_on_line() const { return brace_on_line_; }
  void set_brace_on_line(bool on) { brace_on_line_ = on; }
  void set_in_comment() { in_comment_ = true; }
  Rel rel(TokenPos pos) const;  // as far as it counts inside single-line interpolations
  void flat(int change) { flat_ += change; }

  std::string finish();  // laid out

 private:
  void put(Space s);
  void text(std::string_view s, bool literal);
  void bytes(char c, int n);
  void line_break(char c, int n, Space s);
  void emit(std::string_view s, bool literal, Space next = 0);

  FormatOptions options_;
  Space allowed_ = kSpNoOverride;  // no white space in front of it all
  std::vector<Space> indents_;
  std::string out_;
  int line_ = 0, column_ = 1, indent_ = 0, flat_ = 0;
  Tok last_ = Tok::kIllegal;
  bool space_before_ = false, brace_on_line_ = false, in_comment_ = false;
};

inline bool valid(TokenPos p) { return bool(p) || p.rel != Rel::kNone; }

}  // namespace tutti::cue
