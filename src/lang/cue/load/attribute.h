#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::cue {

// The arguments of an attribute: @tag(name, short=a|b, type=int).
struct AttributeArg {
  std::string key;    // "" for a plain value
  std::string value;  // unquoted
};
std::vector<AttributeArg> parse_attribute(std::string_view body, bool* good = nullptr);

// The value of a key after the first argument (or among all with from = 0); nullptr when it is not there.
const std::string* attribute_value(const std::vector<AttributeArg>& args, std::string_view key, std::size_t from = 1);
bool attribute_flag(const std::vector<AttributeArg>& args, std::string_view flag, std::size_t from = 1);

}  // namespace tutti::cue
