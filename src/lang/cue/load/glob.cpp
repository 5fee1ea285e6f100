#include "lang/cue/load/glob.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>

namespace tutti::cue {

std::string_view glob_problem(std::string_view pattern) {
  constexpr std::string_view kBroken = "syntax error in pattern";
  // One character of a set, which may be escaped, but is neither `-` nor its end.
  auto one = [&](std::size_t& i) {
    if (i < pattern.size() && (pattern[i] == '-' || pattern[i] == ']')) return false;
    if (i < pattern.size() && pattern[i] == '\\') ++i;
    return ++i <= pattern.size();
  };
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '*' && i + 1 < pattern.size() && pattern[i + 1] == '*')
      return "'**' is not supported in patterns as of yet";
    if (pattern[i] == '\\' && ++i == pattern.size()) return kBroken;
    if (pattern[i] != '[' || (i > 0 && pattern[i - 1] == '\\')) continue;
    ++i;
    if (i < pattern.size() && pattern[i] == '^') ++i;
    for (bool any = false;; any = true) {
      if (any && i < pattern.size() && pattern[i] == ']') break;
      if (!one(i)) return kBroken;
      if (i < pattern.size() && pattern[i] == '-' && !one(++i)) return kBroken;
      if (i >= pattern.size()) return kBroken;
    }
  }
  return {};
}

std::vector<std::string> glob_files(const std::string& pattern, bool hidden) {
  std::vector<std::string> out;
  glob_t g{};
  if (::glob(pattern.c_str(), hidden ? GLOB_PERIOD : 0, nullptr, &g) == 0)
    for (std::size_t i = 0; i < g.gl_pathc; ++i) out.emplace_back(g.gl_pathv[i]);
  ::globfree(&g);
  // A star is never for `.` and `..`.
  auto dots = [&](const std::string& s) {
    for (std::string_view name : {"/.", "/.."}) {
      std::string inside = std::string(name) + "/";
      std::string whole = "/" + s + "/";
      if (whole.find(inside) != whole.npos && ("/" + pattern + "/").find(inside) == whole.npos) return true;
    }
    return false;
  };
  if (hidden) std::erase_if(out, dots);
  // Names that were looked for are told without the `./` of the pattern.
  if (hidden && pattern.find_first_of("*?[\\") != pattern.npos)
    for (std::string& s : out) s = std::filesystem::path(s).lexically_normal().string();
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace tutti::cue
