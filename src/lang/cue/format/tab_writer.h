#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace tutti::cue {

// Columns that are as wide as their widest cell ("elastic tab stops"). A cell ends at a tab or vertical tab; a column
// is a run of lines that all have a cell there. A form feed ends the line and all columns. Text between two 0xFF bytes
// is one piece whatever it contains. Used by the formatter and by the text/tabwriter package.
class TabWriter {
 public:
  struct Options {
    int min_width = 0;
    int tab_width = 8;
    int padding = 1;
    char pad = ' ';
    bool tab_indent = false;             // leading empty cells are tabs
    bool discard_empty_columns = false;  // of vertical tabs only
    bool strip_escape = false;
    bool align_right = false;
    bool debug = false;  // a bar between columns
  };

  static constexpr char kEscape = '\xff';

  explicit TabWriter(const Options& options) : options_(options) { lines_.push_back(0); }

  void write(std::string_view text);
  // The same in parts: text as it is, whatever it contains; the end of its cell; the end of the line, and of all
  // columns.
  void append(std::string_view text);
  void end_cell(bool tab);
  void end_line(bool all_columns);
  std::string finish();  // everything written, laid out

 private:
  struct Cell {
    std::size_t size = 0;  // bytes in buffer_
    int width = 0;         // characters
    bool tab = false;      // ended by a tab (not a vertical one)
  };

  std::size_t count(std::size_t line) const;
  void flush();
  std::size_t layout(std::size_t at, std::size_t first, std::size_t last);
  std::size_t lines(std::size_t at, std::size_t first, std::size_t last);
  void pad(int text, int cell, bool tabs);

  Options options_;
  std::string buffer_, out_;
  Cell cell_;
  bool escaped_ = false;
  std::vector<Cell> cells_;         // of all lines
  std::vector<std::size_t> lines_;  // the first cell of each
  std::vector<int> widths_;
};

}  // namespace tutti::cue
