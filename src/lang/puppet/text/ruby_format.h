#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"

namespace tutti::puppet {

// 1.5 -> "1.5", 1e20 -> "1.0e+20": the shortest digits that read back the same, as Ruby prints a Float.
std::string ruby_float(double value);

// One directive of a format such as sprintf's: %[flags][width][.precision]conversion, or %<name>... and %{name}.
struct FormatDirective {
  bool left = false, plus = false, zero = false, space = false, alternate = false;
  std::optional<int> width, precision;
  bool width_from_argument = false, precision_from_argument = false;
  int position = 0;       // %1$s; 0 where the next argument is meant
  std::string_view name;  // of %<name>d and %{name}
  bool braced = false;    // %{name}: no conversion, no width
  char conversion = 0;
};

// Reads the directive after a `%` at `at`, which is moved past it. nullopt where it is malformed.
std::optional<FormatDirective> parse_directive(std::string_view format, std::size_t& at);

// d i u b B o x X (negative numbers in two's complement notation `..f` where Ruby does so), c
std::string format_integer(const FormatDirective& d, i64 value);
std::string format_huge(const FormatDirective& d, double value);            // %d of what no integer here holds
std::string format_real(const FormatDirective& d, double value);            // f e E g G a A
std::string format_text(const FormatDirective& d, std::string_view value);  // s p: precision cuts, width pads
// Pads what is already written to the directive's width.
std::string padded(const FormatDirective& d, std::string text);

}  // namespace tutti::puppet
