#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti::puppet {

// Base64 as Ruby's pack("m") writes it: a newline after every 60 characters and at the end.
std::string ruby_base64_lines(std::string_view bytes);
// As unpack("m") reads it, passing over what is no digit; `strict` is unpack("m0"): nothing but whole groups of four.
std::optional<std::string> ruby_base64_decode(std::string_view text, bool strict);

}  // namespace tutti::puppet
