#pragma once

#include <string>
#include <string_view>

#include "base/types.h"

namespace tutti::puppet {

// What Ruby's YAML reader (YAML 1.1) makes of a plain scalar. Hiera data means what it means there: `yes` is true,
// `0755` is 493, `1:30` is 5400 and `1,000` a thousand, while `1e3` stays text.
struct PsychScalar {
  enum What : u8 { kString, kNull, kBool, kInt, kFloat, kSymbol, kDate } what = kString;
  bool boolean = false;
  i64 integer = 0;
  double real = 0;
  std::string_view text;  // of a symbol, without its colon
};

PsychScalar psych_scalar(std::string_view plain);

}  // namespace tutti::puppet
