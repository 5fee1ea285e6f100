#pragma once

#include "lang/cue/builtin/support.h"

namespace tutti::cue {

// The elements of a list value; reports what is none.
std::vector<Node*> list_items(CallContext& c, Node* list);
// A value as compact JSON; reports what is not concrete.
std::string json_text(CallContext& c, Node* value);

}  // namespace tutti::cue
