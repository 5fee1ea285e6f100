#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/cue/format/tab_writer.h"
#include "lang/cue/syntax/token.h"

// The second half of formatting: texts come one after the other, and before each of them what may stand there. The
// space is decided when the text comes, since only then its place in the source is known. Columns are the TabWriter's.
namespace tutti::cue {

// What may stand before the next text. Several wishes may be there at once: the strongest that is left wins.
enum Space : u16 {
  kBlank = 1 << 0,
  kCell = 1 << 1,        // the next column
  kTight = 1 << 2,       // no blank after all
  kFixed = 1 << 3,       // whatever the source has there
  kComma = 1 << 4,       // a comma first,
  kLastComma = 1 << 5,   // but only where a line ends after it
  kFieldComma = 1 << 6,  // a comma and a blank, but only where no line ends
  kLine = 1 << 7,        // the next line of the table
  kNewTable = 1 << 8,    // a line that is not in the columns of the one before
  kSection = 1 << 9,     // an empty line between
  kIndent = 1 << 10,     // the next line is the first of a deeper level
  kUnindent = 1 << 11,   // and now that level ends
  kLineBreaks = kLine | kNewTable | kSection,
};
using Spaces = u16;

class Printer {
 public:
  explicit Printer(int spaces);

  void allow(Spaces s) { allowed_ |= s; }
  void place(TokenPos at);  // what the source has before the next text
  void token(Tok t);
  void literal(Tok kind, std::string_view text);
  void name(std::string_view text) { put(text, Tok::kIdent); }
  void text(std::string_view text) { put(text, Tok::kString); }  // a keyword, a label
  void attribute(std::string_view text) { put(text, Tok::kAttribute); }

  // A comment, on the line of what it follows unless `rel` says otherwise.
  void before_comment(Rel rel);
  void comment(TokenPos slash, std::string_view text, bool doc);

  void end_level();                  // at once, not with the next space
  void outer_lines() { --indent_; }  // are as deep as before the level, which goes on
  void end_of_file() {
    allowed_ = kLine;
    put("", Tok::kEof);
  }

  std::size_t line() const { return line_; }
  bool empty() const { return empty_; }
  Tok last() const { return last_; }
  bool brace_on_line() const { return brace_on_line_; }
  void brace(std::size_t on_line) { brace_on_line_ = on_line == line_; }

  std::string finish();

 private:
  void put(std::string_view text, Tok kind);
  void write_space(Spaces s);
  void end_line(int times, bool new_table);
  void write(std::string_view text);

  TabWriter out_;
  int spaces_;
  Spaces allowed_ = kFixed;
  std::vector<bool> levels_;  // whether a line of it has begun
  int indent_ = 0;
  std::size_t line_ = 0, column_ = 0;
  bool empty_ = true;           // nothing is written yet
  bool spaced_ = false;         // what was written last is space
  bool brace_on_line_ = false;  // a struct opened on this line
  bool in_comment_ = false;
  Tok last_ = Tok::kIllegal;
};

}  // namespace tutti::cue
