#pragma once

#include <string>
#include <vector>

#include "resource/provider.h"

// Text files of which resources mind some lines only.
namespace tutti::resource {

struct TextFile {
  std::vector<std::string> lines;
  bool there = false;
  bool ended = true;  // its last line has an end
  u32 mode = 0;
};

// `mode` is that of one that is not there yet.
Result<TextFile> read_text(Context& c, const std::string& path, u32 mode = 0644);
std::vector<std::string> lines_of(std::string_view text);
std::string joined_lines(const std::vector<std::string>& lines);

}  // namespace tutti::resource
