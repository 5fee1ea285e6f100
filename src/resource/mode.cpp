#include "resource/mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

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

constexpr std::string_view kWho = "ugoa", kOperators = "+-=", kBits = "rwxXstugo";

// [ugoa]*[+-=] and then bits and more operators
bool is_clause(std::string_view text) {
  std::size_t end = std::min(text.find_first_not_of(kWho), text.size());
  text.remove_prefix(end);
  return !text.empty() && kOperators.find(text[0]) != std::string_view::npos &&
         text.find_first_not_of(fmt::format("{}{}", kOperators, kBits)) == std::string_view::npos;
}

template <class Each>
bool each_clause(std::string_view text, Each each) {
  while (true) {
    std::size_t comma = text.find(',');
    if (!each(text.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

constexpr u32 kSticky = 01000;

struct Who {
  char letter;
  u32 shift;
  u32 special;  // what `s` means of it
};
constexpr Who kAll[] = {{'u', 6, 04000}, {'g', 3, 02000}, {'o', 0, kSticky}};

// `original` is the mode before the first clause; false where a bit cannot be with its operator.
bool clause(std::string_view text, u32 original, u32& mode, bool directory) {
  std::size_t begin = text.find_first_of(kOperators);
  std::string_view whom = text.substr(0, begin);
  const u32 before = mode;  // what `g=u` takes, however many are changed
  for (const Who& who : kAll) {
    if (!whom.empty() && whom.find(who.letter) == std::string_view::npos && whom.find('a') == std::string_view::npos)
      continue;
    u32 bits = before >> who.shift & 7;
    char op = 0;
    auto put = [&](u32 what) { bits = op == '-' ? bits & ~what : bits | what; };
    auto put_special = [&](u32 what) { mode = op == '-' ? mode & ~what : mode | what; };
    for (char c : text.substr(begin)) switch (c) {
        case '=': bits = 0; [[fallthrough]];
        case '+':
        case '-': op = c; break;
        case 'r': put(4); break;
        case 'w': put(2); break;
        case 'x': put(1); break;
        case 'X':
          if (op != '+') return false;  // what may be run already can be added to, not told from the rest
          if (directory || (original & 0111)) put(1);
          break;
        case 's': put_special(who.special); break;
        case 't': put_special(kSticky); break;
        default: put(before >> (c == 'u' ? 6 : c == 'g' ? 3 : 0) & 7);
      }
    mode = (mode & ~(7u << who.shift)) | bits << who.shift;
  }
  return true;
}

}  // namespace

bool mode_is_symbolic(std::string_view text) { return !octal(text); }

bool is_mode(std::string_view text) { return octal(text) || each_clause(text, is_clause); }

Result<u32> mode_from(std::string_view text, u32 current, bool directory) {
  if (auto m = octal(text)) {
    if (directory) {
      if (*m & 0400) *m |= 0100;
      if (*m & 0040) *m |= 0010;
      if (*m & 0004) *m |= 0001;
    }
    return *m;
  }
  if (!is_mode(text)) return failure(fmt::format("{} is not a mode", text));
  u32 mode = current;
  std::string_view wrong;
  if (each_clause(text, [&](std::string_view one) {
        wrong = one;
        return clause(one, current, mode, directory);
      }))
    return mode;
  return failure(fmt::format("X only works with the '+' operator{} in symbolic mode \"{}\"",
                             wrong == text ? "" : fmt::format(" at \"{}\"", wrong), text));
}

std::string mode_text(u32 mode) { return fmt::format("{:04o}", mode); }

}  // namespace tutti::resource
