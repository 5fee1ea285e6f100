// What characters are, whatever the locale.
#pragma once

namespace tutti {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace tutti
