#pragma once

#include <string>
#include <string_view>

namespace tutti::puppet {

// Lower-case hexadecimal digest; `name` is what OpenSSL calls it ("md5", "sha1", "sha256", ...). "" for an unknown
// name.
std::string digest_hex(std::string_view name, std::string_view data);
std::string digest_bytes(std::string_view name, std::string_view data);

std::string base64_encode(std::string_view data, std::size_t line = 0);  // a newline after every `line` characters
// Blanks are passed over; false where the text is not base64.
bool base64_decode(std::string_view text, std::string& out);

}  // namespace tutti::puppet
