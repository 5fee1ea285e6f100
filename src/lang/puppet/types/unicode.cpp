#include "lang/puppet/types/unicode.h"

#include <utf8proc.h>

namespace tutti::puppet {

char32_t unicode_lower(char32_t c) { return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))); }
char32_t unicode_upper(char32_t c) { return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))); }

}  // namespace tutti::puppet
