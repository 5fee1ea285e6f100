#pragma once

#include <functional>

#include "lang/puppet/syntax/ast.h"
#include "lang/puppet/types/type.h"

namespace tutti::puppet {

// Finds a type by its name when it is not built in: an alias, or a resource type. nullptr: not known.
using TypeFinder = std::function<const Type*(std::string_view name)>;

// A type from syntax that holds only literals and types: no variables, no calls. Throws TypeError.
const Type* type_of_syntax(Arena& arena, const Node* node, const TypeFinder& find);
Val literal_value(Arena& arena, const Node* node, const TypeFinder& find);

// A type from its text: "Optional[Integer[1, 10]]", "File['/x']", and "File[/x]" as catalogs write references.
const Type* type_of_text(Arena& arena, std::string_view text, const TypeFinder& find);

}  // namespace tutti::puppet
