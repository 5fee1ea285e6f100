#pragma once

#include <optional>
#include <string_view>

#include "lang/cdl/syntax/document.h"

namespace tutti::cdl {

enum class NameProblem : u8 { kNone, kMalformed, kUnknownPrefix };

// What XML takes for white space.
constexpr std::string_view kSpace = " \t\r\n";

// Without the white space around it, as XML Schema takes names and booleans.
std::string_view trim(std::string_view text);

// An NCName: letters, digits, `.`, `-`, `_` and everything beyond ASCII that XML takes for a letter.
bool is_ncname(std::string_view text);

// A QName in the given namespaces. In `problem`, why not.
WrittenName parse_qname(std::string_view text, const Binding* scope, NameProblem& problem);

// A path of the grammar of cdl:pathType. One slash at the end is let pass. On failure `bad` is the part that is wrong.
std::optional<RefPath> parse_path(Arena& arena, std::string_view text, const Binding* scope, NameProblem& problem,
                                  std::string_view& bad);

}  // namespace tutti::cdl
