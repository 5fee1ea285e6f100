#pragma once

#include <string>
#include <vector>

#include "lang/cue/syntax/ast.h"

namespace tutti::cue {

struct FixOptions {
  bool explicit_open = false;     // embed with `...`, so that what is embedded closes nothing
  bool alias_v2 = false;          // label~X instead of X=label
  std::vector<std::string> mark;  // experiments to name at the head of the file
};

// Rewrites a file to what the language asks for now: list arithmetic becomes calls of list.Concat and list.Repeat, and
// what the experiments change is written in their way. The tree is changed in place; true when anything was.
bool fix_file(Arena& arena, ast::File* f, const FixOptions& options);

}  // namespace tutti::cue
