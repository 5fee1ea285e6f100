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

}  // namespace tutti::puppet
