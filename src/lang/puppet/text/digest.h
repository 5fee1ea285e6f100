#pragma once

#include <string>
#include <string_view>

namespace tutti::puppet {

// Lower-case hexadecimal digest; `name` is what OpenSSL calls it ("md5", "sha1", "sha256", ...). "" for an unknown
// name.
std::string digest_hex(std::string_view name, std::string_view data);
std::string digest_bytes(std::string_view name, std::string_view data);

}  // namespace tutti::puppet
