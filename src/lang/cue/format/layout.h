#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

// The second half of formatting: a flat list of texts, each with what stands before it, becomes lines. Nothing here
// knows CUE.
namespace tutti::cue {

// What stands between two texts, from the tightest to the loosest. A grammar allows a range, the source picks in it.
enum class Gap : u8 {
  kNone,
  kSpace,
  kCell,   // a space, and the next column of the table
  kLine,   // the next line
  kEmpty,  // an empty line between
};
inline bool breaks(Gap g) { return g >= Gap::kLine; }

// When a comma is really written.
enum class Comma : u8 {
  kAlways,
  kOnOneLine,   // between declarations: only where no line break does its work
  kBeforeBreak  // after the last element: only where the bracket closes on a line of its own
};

// Columns are as wide as their widest cell over neighbouring lines of the same depth that all have a cell there; an
// empty line or a new section ends them.
class Layout {
 public:
  explicit Layout(int spaces) : spaces_(spaces) {}

  // `depth` is the indentation of the line if the text begins one. A text may have line ends in it: then it
  // is written as it is, its later lines indented already.
  void text(Gap before, int depth, std::string_view text);
  // A text that does not take part in the choice of commas and that ends its line.
  void comment(Gap before, int depth, std::string_view text);
  // After the last text, before the comments that follow it.
  void comma(Comma rule);
  // The next line is not in the columns of the one before.
  void section() { section_ = true; }

  bool empty() const { return items_.empty(); }
  std::string render() const;

 private:
  // There may be millions: their texts lie behind each other in one.
  struct Item {
    std::size_t end;  // of its text, which begins where that before it ends
    int depth : 22;
    bool comment : 1;
    bool section : 1;
    Gap gap;
    signed char comma;  // a Comma after it, or -1
  };
  // Cells of all lines likewise; a line begins where that before it ends.
  struct Line {
    std::size_t cells;  // the number of the first
    int depth : 31;
    bool joined : 1;  // may share columns with the line before
  };
  struct Lines {
    std::string text;
    std::vector<std::size_t> cells;  // where they begin
    std::vector<Line> lines;

    std::string_view cell(std::size_t i) const;
    std::size_t count(std::size_t line) const { return lines[line + 1].cells - lines[line].cells; }
  };

  void add(Gap before, int depth, std::string_view text, bool comment, bool section);
  bool comma_after(std::size_t i) const;
  Lines lines() const;
  void write_indent(std::string& out, int depth) const;

  int spaces_;
  bool section_ = false;
  std::string text_;
  std::vector<Item> items_;
};

}  // namespace tutti::cue
