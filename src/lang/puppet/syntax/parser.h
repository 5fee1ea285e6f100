#pragma once

#include <memory>

#include "base/budget.h"
#include "lang/puppet/syntax/ast.h"
#include "lang/puppet/syntax/lexer.h"

namespace tutti::puppet {

// Parses a manifest or an EPP template. All syntax errors are reported, those of misplaced constructs too
// (validate.cpp); `ok` is false when there was one. The tree lives in the arena.
std::unique_ptr<Program> parse(const Source& source, LexMode mode, Arena& arena, Diagnostics& diagnostics,
                               Budget& budget);

// What the grammar allows but the language does not: classes within conditionals, idle expressions, duplicate
// parameters...
void validate(const Program& program, Diagnostics& diagnostics);
// Keys that a hash written out has twice, which are found without evaluating anything.
void find_duplicate_keys(const Program& program, Diagnostics& diagnostics, Severity as);

// An expression given by itself, such as the type of a function's parameter: nullptr after an error.
const Node* parse_expression(const Source& source, Arena& arena, Diagnostics& diagnostics, Budget& budget);

}  // namespace tutti::puppet
