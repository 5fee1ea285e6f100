#pragma once

#include <string_view>

#include "lang/cue/eval/node.h"

namespace tutti::cue {

// len, close, and, or, ...; nullptr for no such name.
Node* predeclared_function(std::string_view name);

// What `__no_sharing` stands for: keeps a vertex from standing for another.
Node* no_sharing_node();

}  // namespace tutti::cue
