#pragma once

#include <string>

#include "lang/cue/syntax/ast.h"

// CUE text from syntax trees: files as `fmt` lays them out, and values that were turned into syntax.
namespace tutti::cue {

struct FormatOptions {
  bool simplify = false;  // a: {b: 1} as a: b: 1, "a" as a, [string]: _ as ...
  int spaces = 0;         // indentation by so many spaces instead of tabs
};

// A file, a declaration or an expression. A file ends with a newline. The layout of the source (line breaks, blank
// lines) shows in the result through the positions of the tokens; where they have none, the formatter chooses. With
// `simplify` the tree may be changed.
std::string format_node(ast::Node* node, const FormatOptions& options = {});

// Turns quoted labels that need no quotes, and that nothing refers to, into identifiers.
void simplify_labels(ast::Node* node);

}  // namespace tutti::cue
