#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.h"

namespace tutti::puppet {

// For tests: a manifest compiled for test.example.com. Native resources only, by reference; values as the language
// writes them.
struct Compiled {
  bool ok = false;
  std::string errors;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> resources;  // "file[/x]" -> attributes
  std::vector<std::string> order;  // references of all resources, classes and defines included
  std::vector<std::string> classes;
};

struct CompileOptions {
  bool strict = false;  // strict_variables
  std::vector<std::pair<std::string, std::string>> facts;
  std::string node = "test.example.com";
  Limits limits;
};

Compiled compile_for_test(const std::string& manifest, const CompileOptions& options = {});

}  // namespace tutti::puppet
