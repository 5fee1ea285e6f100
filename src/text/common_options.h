#pragma once

#include <string>
#include <string_view>

#include "base/budget.h"
#include "text/diagnostic.h"

// The values of the options that every call has, whichever command line it speaks (--limit, --diagnostics, --color and
// TUTTI_LIMIT, ...). Each function returns what is wrong with a value, "" when nothing is.
namespace tutti {

std::string set_limit(Limits& limits, std::string_view text);  // NAME=N
std::string set_style(DiagnosticStyle& style, std::string_view name);
std::string wrong_colour(std::string_view wish);

// The limits that hold whatever the program is in the middle of (base/process_limits.h), for a call that only reads.
void keep_limits(const Limits& limits, DiagnosticStyle style, bool colour);

// `auto`, `always` or `never` against NO_COLOR, CLICOLOR_FORCE, TERM and whether the descriptor is a terminal.
bool use_colour(std::string_view wish, int descriptor);

}  // namespace tutti
