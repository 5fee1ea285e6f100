#include "base/xml_tags.h"

#include <fmt/format.h>

#include "base/budget.h"

namespace tutti {
namespace {

constexpr u32 kMostAttributes = 20'000;

// Past what begins at `at` and ends with `end`.
std::size_t after(std::string_view text, std::size_t at, std::string_view end) {
  std::size_t found = text.find(end, at);
  return found == std::string_view::npos ? text.size() : found + end.size();
}

}  // namespace

void check_attribute_counts(std::string_view text, u32 first) {
  for (std::size_t at = text.find('<'); at < text.size(); at = text.find('<', at)) {
    std::string_view rest = text.substr(at);
    if (rest.starts_with("<!--")) {
      at = after(text, at + 4, "-->");
    } else if (rest.starts_with("<![CDATA[")) {
      at = after(text, at, "]]>");
    } else if (rest.starts_with("<?")) {
      at = after(text, at, "?>");
    } else {
      std::size_t tag = at;
      u32 attributes = 0;
      while ((at = text.find_first_of("=>\"'", at)) < text.size() && text[at] != '>') {
        if (text[at] == '=') {
          if (++attributes > kMostAttributes)
            throw LimitError("LIMIT-ATTRIBUTES", fmt::format("an element has more than {} attributes", kMostAttributes),
                             first + static_cast<u32>(tag));
          at++;
        } else {
          at = after(text, at + 1, text.substr(at, 1));
        }
      }
    }
  }
}

}  // namespace tutti
