#pragma once

#include <string>

#include "lang/cue/syntax/ast.h"

namespace tutti::cue {

// YAML from syntax of data: literals, lists and structs, with their comments. False with the reason for anything else.
bool encode_yaml(ast::Node* n, std::string& out, std::string& error);

}  // namespace tutti::cue
