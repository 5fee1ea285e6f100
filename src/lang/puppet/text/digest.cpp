#include "lang/puppet/text/digest.h"

#include <openssl/evp.h>

#include <array>

#include "base/types.h"

namespace tutti::puppet {

std::string digest_bytes(std::string_view name, std::string_view data) {
  const EVP_MD* kind = EVP_get_digestbyname(std::string(name).c_str());
  if (kind == nullptr) return {};
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned int size = 0;
  if (EVP_Digest(data.data(), data.size(), out.data(), &size, kind, nullptr) != 1) return {};
  return {reinterpret_cast<const char*>(out.data()), size};
}

std::string digest_hex(std::string_view name, std::string_view data) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (char c : digest_bytes(name, data)) {
    out += kDigits[static_cast<u8>(c) >> 4];
    out += kDigits[static_cast<u8>(c) & 15];
  }
  return out;
}

namespace {
constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}

std::string base64_encode(std::string_view data, std::size_t line) {
  std::string out;
  std::size_t column = 0;
  for (std::size_t i = 0; i < data.size(); i += 3) {
    u32 three = 0;
    for (std::size_t j = 0; j < 3; j++) three = three << 8 | (i + j < data.size() ? static_cast<u8>(data[i + j]) : 0);
    for (std::size_t j = 0; j < 4; j++) {
      out += i + j > data.size() ? '=' : kAlphabet[three >> (18 - 6 * j) & 63];
    }
    if (line > 0 && (column += 4) >= line) {
      out += '\n';
      column = 0;
    }
  }
  if (line > 0 && column > 0) out += '\n';
  return out;
}

bool base64_decode(std::string_view text, std::string& out) {
  out.clear();
  u32 bits = 0;
  int have = 0, padding = 0;
  std::size_t digits = 0;
  for (char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    if (c == '=') {
      padding++;
      continue;
    }
    std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos || padding > 0) return false;
    bits = bits << 6 | static_cast<u32>(value);
    have += 6;
    digits++;
    if (have >= 8) {
      have -= 8;
      out += static_cast<char>(bits >> have & 0xFF);
    }
  }
  return digits % 4 != 1 && padding <= 2;
}

}  // namespace tutti::puppet
