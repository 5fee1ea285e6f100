#pragma once

#include <optional>
#include <string>

#include "tree/session.h"

namespace tutti::smartfrog {

// Any tree as a SmartFrog file with one component sfConfig, which evaluates to that tree: at --level core where the
// core can say it, otherwise at --level production (typed numbers, lazy references, odd names, components in vectors).
// Links kept by the language the tree comes from become PARENT:..., THIS:... and ROOT:... references. Attributes with a
// secret are tagged [sfSecret], their values shown only with `reveal`. Errors are reported for what has no place in
// SmartFrog at all.
std::optional<std::string> write_smartfrog(Session& session, const Value& value, bool reveal = false);

}  // namespace tutti::smartfrog
