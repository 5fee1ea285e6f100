#pragma once

#include "lang/cue/eval/node.h"

namespace tutti::cue {

inline bool is_scalar(const Node* n) { return n->type <= NodeType::kBytes; }

// Equal, and of the same type: 1 is not 1.0.
bool same_scalar(const Node* a, const Node* b);

}  // namespace tutti::cue
