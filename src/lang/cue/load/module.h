#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::cue {

// A module: the directory that holds cue.mod, and what cue.mod/module.cue says.
struct Module {
  std::string root;
  std::string path;     // without the major version: "example.com/shop"
  std::string version;  // language version, "v0.17.0"; "" when not given
};

// The module around a directory, if any. Only the two fields that matter are read, whatever else is in the file.
std::optional<Module> find_module(const std::string& directory);

// The directories that may hold a package, in the order to look: the module itself, then cue.mod/gen, usr and pkg.
std::vector<std::string> package_directories(const Module& module, std::string_view import_path);

// All .cue files of a directory that are not hidden, sorted.
std::vector<std::string> cue_files(const std::string& directory);

// Compares "v0.9.0" and the like: less than 0 when a is older.
int compare_versions(std::string_view a, std::string_view b);

}  // namespace tutti::cue
