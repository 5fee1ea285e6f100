#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/cue/load/packages.h"

namespace tutti::cue {

constexpr std::string_view kLanguageVersion = "v0.17.1";  // the newest that is known

// What a cue.mod/module.cue says.
struct ModuleFile {
  std::string module;  // its path without the version; "" for none
  std::vector<LoadProblem> problems;
};

ModuleFile read_module_file(const ast::File& file, const std::string& shown);

}  // namespace tutti::cue
