#pragma once

#include <string_view>
#include <vector>

#include "lang/cue/eval/node.h"

namespace tutti::cue {

// len, close, and, or, ...; nullptr for no such name.
Node* predeclared_function(std::string_view name);
std::vector<std::string_view> predeclared_function_names();  // those for users

// What `__no_sharing` stands for: keeps a vertex from standing for another.
Node* no_sharing_node();

}  // namespace tutti::cue
