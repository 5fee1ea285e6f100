#include "lang/cue/format/tab_writer.h"

#include <algorithm>

#include "base/utf8.h"
#include "lang/cue/eval/limits.h"

namespace tutti::cue {

void TabWriter::append(std::string_view text) {
  buffer_ += text;
  cell_.size += text.size();
  cell_.width += static_cast<int>(utf8::length(text));
}

void TabWriter::end_cell(bool tab) {
  cell_.tab = tab;
  cells_.push_back(cell_);
  cell_ = {};
}

void TabWriter::end_line(bool all_columns) {
  end_cell(false);
  // A line of one cell takes part in no column: what came before it can be laid out.
  bool done = all_columns || cells_.size() == lines_.back() + 1;
  lines_.push_back(cells_.size());
  if (done) flush();
}

std::size_t TabWriter::count(std::size_t line) const {
  return (line + 1 < lines_.size() ? lines_[line + 1] : cells_.size()) - lines_[line];
}

void TabWriter::write(std::string_view text) {
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (escaped_) {
      if (c != kEscape) continue;
      append(text.substr(from, i - from + (options_.strip_escape ? 0 : 1)));
      if (!options_.strip_escape) cell_.width -= 2;
      from = i + 1;
      escaped_ = false;
      continue;
    }
    if (c == kEscape) {
      append(text.substr(from, i - from));
      from = options_.strip_escape ? i + 1 : i;
      escaped_ = true;
      continue;
    }
    if (c != '\t' && c != '\v' && c != '\n' && c != '\f') continue;
    append(text.substr(from, i - from));
    from = i + 1;
    if (c == '\n' || c == '\f')
      end_line(c == '\f');
    else
      end_cell(c == '\t');
  }
  append(text.substr(from));
}

std::string TabWriter::finish() {
  flush();
  return std::move(out_);
}

void TabWriter::flush() {
  if (cell_.size > 0) end_cell(false);
  layout(0, 0, lines_.size());
  buffer_.clear();
  cell_ = {};
  widths_.clear();
  cells_.clear();
  lines_.assign(1, 0);
}

// Lays out lines [first, last) given the widths of the columns so far.
std::size_t TabWriter::layout(std::size_t at, std::size_t first, std::size_t last) {
  std::size_t column = widths_.size();
  for (std::size_t line = first; line < last; ++line) {
    if (column + 1 >= count(line)) continue;
    at = lines(at, first, line);
    first = line;
    int width = options_.min_width;
    bool discard = true;
    for (; line < last && column + 1 < count(line); ++line) {
      const Cell& c = cells_[lines_[line] + column];
      width = std::max(width, c.width + options_.padding);
      if (c.width > 0 || c.tab) discard = false;
    }
    if (discard && options_.discard_empty_columns) width = 0;
    widths_.push_back(width);
    at = layout(at, first, line);
    widths_.pop_back();
    first = line;
  }
  return lines(at, first, last);
}

std::size_t TabWriter::lines(std::size_t at, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    bool tabs = options_.tab_indent;
    for (std::size_t j = 0, n = count(i); j < n; ++j) {
      const Cell& c = cells_[lines_[i] + j];
      if (j > 0 && options_.debug) out_ += '|';
      bool column = j < widths_.size();
      if (c.size == 0) {
        if (column) pad(c.width, widths_[j], tabs);
      } else {
        tabs = false;
        if (options_.align_right && column) pad(c.width, widths_[j], false);
        out_.append(buffer_, at, c.size);
        at += c.size;
        if (!options_.align_right && column) pad(c.width, widths_[j], false);
      }
    }
    if (i + 1 < lines_.size()) out_ += '\n';
  }
  return at;
}

void TabWriter::pad(int text, int cell, bool tabs) {
  if (options_.pad == '\t' || tabs) {
    int w = options_.tab_width;
    if (w == 0) return;
    cell = (cell + w - 1) / w * w;
    out_.append(static_cast<std::size_t>(std::max(0, (cell - text + w - 1) / w)), '\t');
    return;
  }
  check_text(out_.size() + static_cast<u64>(std::max(0, cell - text)));
  out_.append(static_cast<std::size_t>(std::max(0, cell - text)), options_.pad);
}

}  // namespace tutti::cue
