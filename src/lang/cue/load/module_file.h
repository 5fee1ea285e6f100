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

// What is wrong with what a module file is to say, in cue's words; "" for nothing.
std::string wrong_language_version(const std::string& version);
std::string wrong_module_path(std::string_view path);        // example.com/x, with or without @v0
std::string wrong_required_module(const std::string& path);  // example.com/x@v0.1.2

}  // namespace tutti::cue
