#include "base/base64.h"

#include "base/types.h"

namespace tutti {
namespace {
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}

std::string base64_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::size_t left = bytes.size() - i;
    u32 group = u32{static_cast<u8>(bytes[i])} << 16;
    if (left > 1) group |= u32{static_cast<u8>(bytes[i + 1])} << 8;
    if (left > 2) group |= static_cast<u8>(bytes[i + 2]);
    out += kDigits[group >> 18];
    out += kDigits[(group >> 12) & 63];
    out += left > 1 ? kDigits[(group >> 6) & 63] : '=';
    out += left > 2 ? kDigits[group & 63] : '=';
  }
  return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
  std::string out;
  u32 group = 0;
  int have = 0, padding = 0;
  for (char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (c == '=') {
      padding++;
      continue;
    }
    std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos || padding > 0) return std::nullopt;
    group = (group << 6) | static_cast<u32>(digit);
    if (++have == 4) {
      out += static_cast<char>(group >> 16);
      out += static_cast<char>(group >> 8);
      out += static_cast<char>(group);
      group = 0;
      have = 0;
    }
  }
  if (have == 1 || padding > 2 || (padding > 0 && (have + padding) != 4)) return std::nullopt;
  if (have >= 2) out += static_cast<char>(group >> (have == 2 ? 4 : 10));
  if (have == 3) out += static_cast<char>(group >> 2);
  return out;
}

}  // namespace tutti
