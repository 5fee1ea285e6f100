#pragma once

#include <string>
#include <vector>

#include "text/source.h"

namespace tutti {

// A replacement of bytes of one source. Formatters, `trim`, import and fixes speak in these.
struct TextEdit {
  std::size_t from = 0, to = 0;  // byte offsets into the source's text
  std::string text;
};

// The text with all edits made. They may come in any order but must not overlap.
std::string apply_edits(std::string_view text, std::vector<TextEdit> edits);

// The difference of two texts as a unified diff with three lines of context; "" when they are equal.
std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_name,
                         std::string_view after_name);

}  // namespace tutti
