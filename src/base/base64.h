#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti {

std::string base64_encode(std::string_view bytes);
// Spaces and line ends are passed over; nullopt for anything else that is not base64.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace tutti
