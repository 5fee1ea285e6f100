#pragma once

#include <string>
#include <string_view>

#include "base/types.h"

// How times and numbers read in what people are told.
namespace tutti {

std::string when(double time);                      // 2026-11-15 20:31:07, here
std::string short_time(double seconds);             // 320 ms, 4.2 s, 12 min
std::string show_time(double seconds);              // "12.5", "0.003": no trailing zeros
std::string counted(u64 n, std::string_view noun);  // 1 state, 2 states

// A paragraph in lines of at most `width` columns, those after the first indented. Its own ends of lines stay.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = 80);

// A name as one word of a command line.
std::string as_typed(const std::string& name);

}  // namespace tutti
