#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/types.h"

namespace tutti {

// The ways in which programs write a text that is looked for in what they print.

// As it is written by who quotes it: JSON, and the ways of shells.
std::set<std::string> quoted_forms(std::string_view word);

// What is there of it in base64 or hexadecimal digits. A text within a longer one begins at any of the three places of
// a group of base64, and shares its first and last digit with what is around it: those belong to it too.
struct EncodedForm {
  std::string digits;
  bool before = false, after = false;  // a part of it is in the digit there
};
std::vector<EncodedForm> encoded_forms(std::string_view word);

bool is_base64_digit(char c);  // of either alphabet

// A text read in another way, and where each of its bytes was.
struct View {
  std::string text;
  std::vector<std::pair<u32, u32>> at;
};
View without_breaks(std::string_view text);              // lines that were cut to a width are one
View without_percent(std::string_view text, bool plus);  // of a URL; `plus`: a blank is written so

}  // namespace tutti
