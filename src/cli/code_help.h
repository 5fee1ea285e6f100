#pragma once

#include <string>
#include <string_view>
#include <vector>

// What a diagnostic's code means and what to do: the text of docs/reference/errors.md, which is a part of the program,
// so that `tutti help CODE` and the page say the same.
namespace tutti {

extern const std::string_view kErrorCodes;  // the page

// "" when there is no such code. Letters of either case.
std::string code_help(std::string_view code);
// All codes, as views of the page.
std::vector<std::string_view> help_codes();

}  // namespace tutti
