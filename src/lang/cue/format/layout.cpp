#include "lang/cue/format/layout.h"

#include <algorithm>

#include "base/utf8.h"

namespace tutti::cue {

void Layout::text(Gap before, int depth, std::string text) {
  items_.push_back({std::move(text), before, depth, false, section_, -1});
  section_ = false;
}

void Layout::comment(Gap before, int depth, std::string_view text) {
  // A section begins with what is written next, except where that only ends the line before.
  bool own_line = breaks(before);
  items_.push_back({std::string(text), before, depth, true, own_line && section_, -1});
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

std::vector<Layout::Line> Layout::lines() const {
  std::vector<Line> lines;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (lines.empty() || breaks(item.gap)) {
      bool blank = !lines.empty() && item.gap == Gap::kEmpty;
      if (blank) lines.push_back({0, false, {}});
      lines.push_back({item.depth, !blank && !item.section && !lines.empty(), {""}});
    } else if (item.gap == Gap::kCell) {
      lines.back().cells.emplace_back();
    } else if (item.gap == Gap::kSpace) {
      lines.back().cells.back() += ' ';
    }
    std::string& cell = lines.back().cells.back();
    cell += item.text;
    if (comma_after(i)) cell += ',';
  }
  return lines;
}

void Layout::write_indent(std::string& out, int depth) const {
  if (spaces_ > 0)
    out.append(static_cast<std::size_t>(depth * spaces_), ' ');
  else
    out.append(static_cast<std::size_t>(depth), '\t');
}

std::string Layout::render() const {
  std::vector<Line> all = lines();
  std::string out;
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
      const std::string& cell = all[c.end].cells[column];
      std::size_t tail = cell.rfind('\n');
      c.width = std::max(c.width, utf8::length(tail == std::string::npos ? cell : cell.substr(tail + 1)));
      ++c.end;
    } while (c.end < all.size() && all[c.end].joined && all[c.end].depth == all[line].depth &&
             all[c.end].cells.size() > column + 1);
    return c.width;
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Line& line = all[i];
    if (!line.cells.empty()) write_indent(out, line.depth);
    for (std::size_t k = 0; k < line.cells.size(); ++k) {
      out += line.cells[k];
      if (k + 1 == line.cells.size()) break;
      std::size_t width = width_of(i, k), used = utf8::length(line.cells[k]);
      out.append(width + 1 - std::min(width, used), ' ');
    }
    if (i + 1 < all.size()) out += '\n';
  }
  return out;
}

}  // namespace tutti::cue
