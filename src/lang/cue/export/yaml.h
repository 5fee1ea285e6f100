#pragma once

#include <string>

#include "base/types.h"
#include "lang/cue/syntax/ast.h"

namespace tutti::cue {

// YAML from syntax of data: literals, lists and structs, with their comments. False with the reason for anything else.
// A text longer than `longest` ends the request.
bool encode_yaml(ast::Node* n, std::string& out, std::string& error, u64 longest = UINT64_MAX);

}  // namespace tutti::cue
