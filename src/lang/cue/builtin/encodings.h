#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti::cue {

std::string base64_encode(std::string_view bytes);
// Standard alphabet with padding; line breaks are skipped. nullopt with Go's text of the error.
std::optional<std::string> base64_decode(std::string_view text, std::string& error);

std::string html_escape(std::string_view s);
std::string html_unescape(std::string_view s);

}  // namespace tutti::cue
