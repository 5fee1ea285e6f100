#include "resource/mode.h"

#include <fmt/format.h>

namespace tutti::resource {
namespace {

std::optional<u32> octal(std::string_view text) {
  if (text.empty() || text.size() > 5) return std::nullopt;
  u32 m = 0;
  for (char c : text) {
    if (c < '0' || c > '7') return std::nullopt;
    m = m * 8 + static_cast<u32>(c - '0');
  }
  if (m > 07777) return std::nullopt;
  return m;
}

// One clause: [ugoa]*([+-=][rwxXst]*|[+-=][ugo])+
bool clause(std::string_view text, u32& mode, bool directory) {
  u32 who = 0;  // u 1, g 2, o 4
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == 'u')
      who |= 1;
    else if (text[i] == 'g')
      who |= 2;
    else if (text[i] == 'o')
      who |= 4;
    else if (text[i] == 'a')
      who |= 7;
    else
      break;
  }
  if (who == 0) who = 7;
  if (i == text.size()) return false;
  const u32 before = mode;
  while (i < text.size()) {
    char op = text[i++];
    if (op != '+' && op != '-' && op != '=') return false;
    u32 bits = 0;  // rwx
    bool s = false, t = false;
    for (; i < text.size() && text[i] != '+' && text[i] != '-' && text[i] != '='; ++i) {
      switch (text[i]) {
        case 'r': bits |= 4; break;
        case 'w': bits |= 2; break;
        case 'x': bits |= 1; break;
        case 'X':
          if (op != '+') return false;  // what may be run already can be added to, not told from the rest
          if (directory || (before & 0111)) bits |= 1;
          break;
        case 's': s = true; break;
        case 't': t = true; break;
        case 'u': bits |= before >> 6 & 7; break;
        case 'g': bits |= before >> 3 & 7; break;
        case 'o': bits |= before & 7; break;
        default: return false;
      }
    }
    u32 mask = 0, reach = 0;
    if (who & 1) mask |= bits << 6, reach |= 0700;
    if (who & 2) mask |= bits << 3, reach |= 0070;
    if (who & 4) mask |= bits, reach |= 0007;
    if (s) mask |= (who & 1 ? 04000u : 0u) | (who & 2 ? 02000u : 0u);
    if (t) mask |= 01000;
    if (op == '+')
      mode |= mask;
    else if (op == '-')
      mode &= ~mask;
    else
      mode = (mode & ~reach) | mask;
  }
  return true;
}

}  // namespace

bool mode_is_symbolic(std::string_view text) { return !octal(text); }

std::optional<u32> mode_from(std::string_view text, u32 current, bool directory) {
  if (auto m = octal(text)) {
    if (directory) {
      if (*m & 0400) *m |= 0100;
      if (*m & 0040) *m |= 0010;
      if (*m & 0004) *m |= 0001;
    }
    return m;
  }
  u32 mode = current;
  while (true) {
    std::size_t comma = text.find(',');
    if (!clause(text.substr(0, comma), mode, directory)) return std::nullopt;
    if (comma == std::string_view::npos) return mode;
    text.remove_prefix(comma + 1);
  }
}

std::string mode_text(u32 mode) { return fmt::format("{:04o}", mode); }

}  // namespace tutti::resource
