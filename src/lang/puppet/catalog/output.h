#pragma once

#include <optional>
#include <string>

#include "lang/puppet/eval/compiler.h"

namespace tutti::puppet {

// The catalog as a tree: `resources` by reference ("File[/x]") in catalog order, each with type, title, tags,
// parameters; `edges`, `classes`. Values that data formats do not have keep their kind: references are resources,
// Sensitive is secret.
Value catalog_tree(Compiler& compiler);

// The tree as Puppet's own catalog JSON.
std::string catalog_json(const Value& tree);

// A value of the language as a tree, and back (facts, data files).
Value to_tree(Compiler& compiler, const Val& v, Origin otherwise);
Val from_tree(Arena& arena, const Value& v);

}  // namespace tutti::puppet
