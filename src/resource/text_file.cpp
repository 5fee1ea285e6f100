#include "resource/text_file.h"

#include <algorithm>

namespace tutti::resource {

Result<TextFile> read_text(Context& c, const std::string& path, u32 mode) {
  TextFile out;
  out.mode = mode;
  auto s = c.host.stat(path, true, false);
  if (!s) return tl::unexpected(s.error());
  if (s->kind == FileState::Kind::kAbsent) return out;
  auto text = c.host.read(path);
  if (!text) return tl::unexpected(text.error());
  out.there = true;
  out.mode = s->mode;
  out.ended = text->empty() || text->back() == '\n';
  out.lines = lines_of(*text);
  return out;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string out;
  for (auto& line : lines) out += line + "\n";
  return out;
}

}  // namespace tutti::resource
