#pragma once

#include <vector>

#include "lang/cue/syntax/ast.h"
#include "lang/cue/syntax/scanner.h"

namespace tutti::cue {

struct ParseOptions {
  bool imports_only = false;  // stop after the import declarations
};

struct ParsedFile {
  ast::File* file = nullptr;  // what could be read, even with errors; nullptr when not even a beginning was
  std::vector<SyntaxError> errors;
};

// Reads one file. Errors are those of the published grammar in the words users of `cue` know; after one the parser goes
// on with the next field. The tree is made in `arena`.
ParsedFile parse_file(const Source& source, Arena& arena, const ParseOptions& options = {});

// One expression with nothing after it (`-e`, `-d`, @if); nullptr with errors.
ast::Node* parse_expression(const Source& source, Arena& arena, std::vector<SyntaxError>& errors);

}  // namespace tutti::cue
