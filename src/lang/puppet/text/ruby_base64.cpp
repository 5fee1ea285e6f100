#include "lang/puppet/text/ruby_base64.h"

#include "base/base64.h"

namespace tutti::puppet {

std::string ruby_base64_lines(std::string_view bytes) {
  constexpr std::size_t kLine = 60;
  std::string all = base64_encode(bytes), out;
  for (std::size_t at = 0; at < all.size(); at += kLine) out.append(all, at, kLine).append("\n");
  return out;
}

std::optional<std::string> ruby_base64_decode(std::string_view text, bool strict) {
  if (strict) {
    if (text.size() % 4 != 0 || text.find_first_of(" \t\r\n") != std::string_view::npos) return std::nullopt;
    return base64_decode(text);
  }
  std::string digits;
  for (char c : text.substr(0, text.find('='))) {
    bool digit = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
    if (digit) digits += c;
  }
  if (digits.size() % 4 == 1) digits.pop_back();
  return base64_decode(digits);
}

}  // namespace tutti::puppet
