#pragma once

#include "text/source.h"
#include "tree/value.h"

namespace tutti {

// What is made of a secret is one: marks every text of the tree in which the text of a secret occurs, in any form, and
// every number that is a secret number; with `sources` also those that languages have said while they evaluated
// (Puppet's `unwrap` takes the mark away, not the secret). For languages whose evaluators do not carry the mark along.
Value spread_secrets(const Value& root, const TreeBuilder& builder, const Sources* sources = nullptr);

// The secrets of a tree are not shown in lines of the sources, nor in what is said about them.
void keep_secrets(const Value& root, Sources& sources);

}  // namespace tutti
