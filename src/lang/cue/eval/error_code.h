#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tutti::cue {

// The stable code of a kind of error, by how cue words it (without the path in front): "CUE-CONFLICT". "CUE" for what
// has none.
std::string_view error_code(std::string_view message);

// The name that a misspelt one may have been meant to be; "" for none. Names that differ in digits only are taken to be
// told apart on purpose.
std::string meant_name(std::string_view name, std::span<const std::string_view> known);

constexpr std::string_view kSyntaxCode = "CUE-SYNTAX";

}  // namespace tutti::cue
