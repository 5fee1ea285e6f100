#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"

// Internet addresses as Go's netip sees them, with its words for what is none.
namespace tutti::cue {

// 4 or 16 bytes and perhaps a zone.
struct Address {
  std::string bytes;
  std::string zone;
  bool is4() const { return bytes.size() == 4; }
  u8 at(std::size_t i) const { return static_cast<u8>(bytes[i]); }
  bool mapped() const {
    return !is4() && bytes.substr(0, 10) == std::string(10, '\0') && at(10) == 255 && at(11) == 255;
  }
  Address unmapped() const { return mapped() ? Address{bytes.substr(12), ""} : *this; }
  std::string text() const;
};

struct Prefix {
  Address address;
  int bits = 0;
  bool contains(const Address& a) const;
};

std::optional<Address> parse_address(std::string_view s, std::string& error);
std::optional<Prefix> parse_prefix(std::string_view s, std::string& error);

}  // namespace tutti::cue
