// Values are not code. What is put into a text for a shell with `${path}` is read by that shell: an address that a host
// gave, `10.0.0.1; rm -rf /`, would be a command of root's here. `${'path}` makes one word of it, whatever is in it. A
// text keeps a mark of what was put in as it is, through settings that refer to settings, until it reaches a shell,
// where the mark is asked for. What a shell reads as one plain word anyway leaves no mark: most addresses and ports do.
#pragma once

#include <algorithm>
#include <string_view>

#include "tree/value.h"

namespace tutti {

// One word for any shell, and no option.
inline bool is_plain_word(std::string_view text) {
  auto plain = [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("_-./:@%+,=").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), plain);
}

inline Raw worse(Raw a, Raw b) { return std::max(a, b); }

// The worst mark of a value and all that is in it.
inline Raw raw_throughout(const Value& v) {
  Raw all = v.raw();
  if (v.is(Kind::kList))
    for (const Value& item : v.items()) all = worse(all, raw_throughout(item));
  if (v.is(Kind::kMap))
    for (const Entry& e : v.entries()) all = worse(all, raw_throughout(e.value));
  return all;
}

}  // namespace tutti
