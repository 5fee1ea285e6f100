#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::cue {

// What is wrong with a pattern of file names, as path.Match says it; "" for nothing.
std::string_view glob_problem(std::string_view pattern);

// The files that match, by name. `hidden`: a star is also for names that begin with a dot.
std::vector<std::string> glob_files(const std::string& pattern, bool hidden);

}  // namespace tutti::cue
