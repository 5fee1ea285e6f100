#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace tutti::cue {

// A regular expression in Go's syntax (RE2). Compiled once in the program's life and kept; safe from several threads.
// nullptr when it is wrong, with the text of the error as Go words it.
const re2::RE2* compile_regex(std::string_view pattern, std::string* error = nullptr);

bool regex_matches(const re2::RE2& re, std::string_view text);

// The places of a match and its groups: pairs of offsets, -1 for a group that took no part. Empty for no match.
std::vector<int> regex_find(const re2::RE2& re, std::string_view text, std::size_t from);
// All matches that do not overlap, at most n of them (all for n < 0).
std::vector<std::vector<int>> regex_find_all(const re2::RE2& re, std::string_view text, long n);
std::vector<std::string> regex_group_names(const re2::RE2& re);  // [0] is the whole match, "" without a name

}  // namespace tutti::cue
