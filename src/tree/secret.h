#pragma once

#include "text/source.h"
#include "tree/value.h"

namespace tutti {

// What is made of a secret is one: marks every text of the tree in which the text of a secret occurs, and every number
// that is a secret number. For languages whose evaluators do not carry the mark along. Short texts (up to three
// letters) would be found everywhere and are not looked for.
Value spread_secrets(const Value& root, const TreeBuilder& builder);

// The secrets of a tree are not shown in lines of the sources.
void keep_secrets(const Value& root, Sources& sources);

}  // namespace tutti
