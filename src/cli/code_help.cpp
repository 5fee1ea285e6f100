#include "cli/code_help.h"

#include <algorithm>
#include <cctype>

#include "cli/wording.h"

namespace tutti {
namespace {

constexpr std::string_view kHeading = "\n### ";

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

// A part of the page: `### CODE, CODE` and what is said of them, to the next heading.
struct CodeEntry {
  std::vector<std::string_view> codes;
  std::string_view body;
};

std::vector<CodeEntry> code_entries() {
  std::vector<CodeEntry> out;
  for (std::size_t at = kErrorCodes.find(kHeading); at != std::string_view::npos;) {
    std::string_view rest = kErrorCodes.substr(at + kHeading.size());
    std::size_t line = std::min(rest.find('\n'), rest.size());
    CodeEntry entry{{}, rest.substr(line)};
    for (std::string_view heading = rest.substr(0, line); !heading.empty();) {
      std::size_t comma = std::min(heading.find(", "), heading.size());
      entry.codes.push_back(heading.substr(0, comma));
      heading.remove_prefix(std::min(comma + 2, heading.size()));
    }
    entry.body = entry.body.substr(0, std::min(entry.body.find("\n## "), entry.body.find(kHeading)));
    out.push_back(std::move(entry));
    at = kErrorCodes.find(kHeading, at + 1);
  }
  return out;
}

// For a terminal: `[text](link)` is its text, nothing is bold, and a paragraph is one line, to be wrapped anew.
std::string without_marks(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "**") {
      ++i;
      continue;
    }
    bool alone = text[i] == '\n' && out.size() && out.back() != '\n' && i + 1 < text.size() && text[i + 1] != '\n';
    if (alone) {
      out += ' ';
      continue;
    }
    std::size_t end = text[i] == '[' ? text.find("](", i) : std::string_view::npos;
    std::size_t closed = end == std::string_view::npos ? end : text.find(')', end);
    if (closed == std::string_view::npos) {
      out += text[i];
      continue;
    }
    out += text.substr(i + 1, end - i - 1);
    i = closed;
  }
  return out;
}

}  // namespace

std::string code_help(std::string_view code) {
  std::string name = upper(code);
  for (const CodeEntry& entry : code_entries()) {
    if (std::ranges::find(entry.codes, name) == entry.codes.end()) continue;
    std::size_t first = entry.body.find_first_not_of('\n'), last = entry.body.find_last_not_of('\n');
    if (first == std::string_view::npos) return {};
    return name + "\n\n" + wrapped(without_marks(entry.body.substr(first, last + 1 - first)), 0) + "\n";
  }
  return {};
}

std::vector<std::string_view> help_codes() {
  std::vector<std::string_view> out;
  for (const CodeEntry& entry : code_entries()) out.insert(out.end(), entry.codes.begin(), entry.codes.end());
  return out;
}

}  // namespace tutti
