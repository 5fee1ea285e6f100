#include "lang/cue/format/layout.h"

#include <algorithm>

#include "base/utf8.h"

namespace tutti::cue {

void Layout::add(Gap before, int depth, std::string_view text, bool comment, bool section) {
  text_ += text;
  items_.push_back({text_.size(), depth, comment, section, before, -1});
}

void Layout::text(Gap before, int depth, std::string_view text) {
  add(before, depth, text, false, section_);
  section_ = false;
}

void Layout::comment(Gap before, int depth, std::string_view text) {
  // A section begins with what is written next, except where that only ends the line before.
  bool own_line = breaks(before);
  add(before, depth, text, true, own_line && section_);
  if (own_line) section_ = false;
}

void Layout::comma(Comma rule) {
  std::size_t i = items_.size();
  while (i > 0 && items_[i - 1].comment) --i;
  if (i > 0) items_[i - 1].comma = static_cast<signed char>(rule);
}

bool Layout::comma_after(std::size_t i) const {
  if (items_[i].comma < 0) return false;
  auto rule = static_cast<Comma>(items_[i].comma);
  if (rule == Comma::kAlways) return true;
  std::size_t next = i + 1;
  while (next < items_.size() && items_[next].comment) ++next;
  bool line_ends = next < items_.size() && breaks(items_[next].gap);
  return line_ends == (rule == Comma::kBeforeBreak);
}

std::string_view Layout::Lines::cell(std::size_t i) const {
  std::size_t end = i + 1 < cells.size() ? cells[i + 1] : text.size();
  return std::string_view(text).substr(cells[i], end - cells[i]);
}

Layout::Lines Layout::lines() const {
  Lines out;
  out.text.reserve(text_.size() + text_.size() / 8);
  auto begin_cell = [&] { out.cells.push_back(out.text.size()); };
  auto begin_line = [&](int depth, bool joined) { out.lines.push_back({out.cells.size(), depth, joined}); };
  std::size_t from = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (out.lines.empty() || breaks(item.gap)) {
      bool first = out.lines.empty(), blank = !first && item.gap == Gap::kEmpty;
      if (blank) begin_line(0, false);
      begin_line(item.depth, !blank && !item.section && !first);
      begin_cell();
    } else if (item.gap == Gap::kCell) {
      begin_cell();
    } else if (item.gap == Gap::kSpace) {
      out.text += ' ';
    }
    out.text.append(text_, from, item.end - from);
    from = item.end;
    if (comma_after(i)) out.text += ',';
  }
  begin_line(0, false);  // the end
  return out;
}

void Layout::write_indent(std::string& out, int depth) const {
  if (spaces_ > 0)
    out.append(static_cast<std::size_t>(depth * spaces_), ' ');
  else
    out.append(static_cast<std::size_t>(depth), '\t');
}

std::string Layout::render() const {
  Lines all = lines();
  std::string out;
  out.reserve(all.text.size() + all.text.size() / 2);
  std::size_t count = all.lines.size() - 1;
  // How wide the columns are that the line before was in, and up to which line that was counted.
  struct Column {
    std::size_t width = 0, end = 0;
  };
  std::vector<Column> columns;
  auto width_of = [&](std::size_t line, std::size_t column) {
    if (columns.size() <= column) columns.resize(column + 1);
    Column& c = columns[column];
    if (c.end > line) return c.width;
    c = {0, line};
    do {
      std::string_view cell = all.cell(all.lines[c.end].cells + column);
      std::size_t tail = cell.rfind('\n');
      c.width = std::max(c.width, utf8::length(tail == std::string_view::npos ? cell : cell.substr(tail + 1)));
      ++c.end;
    } while (c.end < count && all.lines[c.end].joined && all.lines[c.end].depth == all.lines[line].depth &&
             all.count(c.end) > column + 1);
    return c.width;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const Line& line = all.lines[i];
    std::size_t cells = all.count(i);
    if (cells > 0) write_indent(out, line.depth);
    for (std::size_t k = 0; k < cells; ++k) {
      std::string_view cell = all.cell(line.cells + k);
      out += cell;
      if (k + 1 == cells) break;
      std::size_t width = width_of(i, k), used = utf8::length(cell);
      out.append(width + 1 - std::min(width, used), ' ');
    }
    if (i + 1 < count) out += '\n';
  }
  return out;
}

}  // namespace tutti::cue
