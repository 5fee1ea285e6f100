#pragma once

namespace tutti::puppet {

char32_t unicode_lower(char32_t c);
char32_t unicode_upper(char32_t c);

}  // namespace tutti::puppet
