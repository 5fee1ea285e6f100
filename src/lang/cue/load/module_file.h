#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lang/cue/load/packages.h"

namespace tutti::cue {

constexpr std::string_view kLanguageVersion = "v0.17.1";  // the newest that is known

// What a cue.mod/module.cue says.
struct ModuleFile {
  struct Dependency {
    std::string version;      // "" where only the replacement is said
    bool is_default = false;  // of several major versions the one that an import without one means
    std::string replacement;  // a folder (./x, ../x, /x) or a module (path@v0); "" for none
  };
  std::string module;  // its path without the version; "" for none
  std::string major;   // of that path; v0 where it says none
  std::string language;
  std::map<std::string, Dependency> needs;  // by path with its major version
  std::vector<LoadProblem> problems;
};

ModuleFile read_module_file(const ast::File& file, const std::string& shown);
// cue.mod/local-module.cue: what the module itself, and nobody who uses it, takes for its dependencies.
void read_local_module_file(const ast::File& file, const std::string& shown, ModuleFile& into);

// What is wrong with what a module file is to say, in cue's words; "" for nothing.
std::string wrong_language_version(const std::string& version);
std::string wrong_module_path(std::string_view path);        // example.com/x, with or without @v0
std::string wrong_required_module(const std::string& path);  // example.com/x@v0.1.2

}  // namespace tutti::cue
