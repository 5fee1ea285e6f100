#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lang/cue/builtin/go_value.h"

// Go's package fmt: what Sprintf, Sprint and Sprintln make of values.
namespace tutti::cue {

std::string go_sprintf(std::string_view format, std::span<const GoValue> args);
std::string go_sprint(std::span<const GoValue> args);    // a space between two that are no strings
std::string go_sprintln(std::span<const GoValue> args);  // a space between any two
std::string go_show(const GoValue& v, char verb = 'v');  // one value

}  // namespace tutti::cue
