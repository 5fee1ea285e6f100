#pragma once

#include <string>
#include <string_view>

#include "base/types.h"

namespace tutti::utf8 {

constexpr char32_t kInvalid = 0xFFFFFFFF;

// The code point at `at`, which is moved past it; kInvalid (and one byte passed) where the bytes are not UTF-8:
// overlong forms, surrogates and values past U+10FFFF included.
char32_t decode(std::string_view text, std::size_t& at);

void append(std::string& to, char32_t c);

// Byte offset of the first byte that is not UTF-8, or npos.
std::size_t first_invalid(std::string_view text);

// With U+FFFD for every byte that is not UTF-8.
std::string repaired(std::string_view text);

// Number of code points; every invalid byte counts as one.
std::size_t length(std::string_view text);

// Columns a terminal needs for it (wide characters two, combining ones none).
std::size_t width(std::string_view text);

}  // namespace tutti::utf8
