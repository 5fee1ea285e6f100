#include "base/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>

namespace tutti::utf8 {

char32_t decode(std::string_view text, std::size_t& at) {
  auto byte = [&](std::size_t i) { return static_cast<u8>(text[i]); };
  u8 first = byte(at);
  if (first < 0x80) return static_cast<char32_t>(text[at++]);
  int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first > 0xF4 || at + static_cast<std::size_t>(more) >= text.size()) {
    at++;
    return kInvalid;
  }
  char32_t c = first & (0x3F >> more);
  for (int i = 1; i <= more; i++) {
    u8 b = byte(at + static_cast<std::size_t>(i));
    if ((b & 0xC0) != 0x80) {
      at++;
      return kInvalid;
    }
    c = (c << 6) | (b & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  if (c < kLeast[more] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
    at++;
    return kInvalid;
  }
  at += static_cast<std::size_t>(more) + 1;
  return c;
}

void append(std::string& to, char32_t c) {
  if (c < 0x80) {
    to += static_cast<char>(c);
  } else if (c < 0x800) {
    to += static_cast<char>(0xC0 | (c >> 6));
    to += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    to += static_cast<char>(0xE0 | (c >> 12));
    to += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    to += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    to += static_cast<char>(0xF0 | (c >> 18));
    to += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    to += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    to += static_cast<char>(0x80 | (c & 0x3F));
  }
}

std::size_t first_invalid(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    // Eight ASCII bytes at a time: most text is nothing else.
    while (at + 8 <= text.size()) {
      u64 eight;
      std::memcpy(&eight, text.data() + at, 8);
      if ((eight & 0x8080808080808080) != 0) break;
      at += 8;
    }
    if (at == text.size()) break;
    std::size_t start = at;
    if (decode(text, at) == kInvalid) return start;
  }
  return std::string_view::npos;
}

std::string repaired(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t good = std::min(first_invalid(text), text.size());
    out += text.substr(0, good);
    text.remove_prefix(good);
    if (text.empty()) break;
    append(out, 0xFFFD);
    text.remove_prefix(1);
  }
  return out;
}

std::size_t length(std::string_view text) {
  std::size_t n = 0;
  for (std::size_t at = 0; at < text.size(); n++) decode(text, at);
  return n;
}

std::size_t width(std::string_view text) {
  std::size_t n = 0;
  for (std::size_t at = 0; at < text.size();) {
    char32_t c = decode(text, at);
    int w = c == kInvalid ? 1 : c < 0x20 ? 0 : utf8proc_charwidth(static_cast<utf8proc_int32_t>(c));
    n += static_cast<std::size_t>(w < 0 ? 0 : w);
  }
  return n;
}

}  // namespace tutti::utf8
