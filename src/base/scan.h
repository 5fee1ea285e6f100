#pragma once

#include <bit>
#include <cstring>
#include <string_view>

#include "base/types.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace tutti {

// How many bytes from the start are neither `"` nor `\` nor a control character: what a JSON string holds as it is.
// Sixteen bytes at a time, as most of what is read and written is such text.
inline std::size_t plain_run(std::string_view text) {
  std::size_t at = 0;
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), last_control = _mm_set1_epi8(0x1F);
  for (; at + 16 <= text.size(); at += 16) {
    __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    __m128i control = _mm_cmpeq_epi8(_mm_max_epu8(bytes, last_control), last_control);
    __m128i special =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)), control);
    auto mask = static_cast<u32>(_mm_movemask_epi8(special));
    if (mask != 0) return at + static_cast<std::size_t>(std::countr_zero(mask));
  }
#endif
  for (; at < text.size(); at++) {
    u8 c = static_cast<u8>(text[at]);
    if (c == '"' || c == '\\' || c < 0x20) break;
  }
  return at;
}

}  // namespace tutti
