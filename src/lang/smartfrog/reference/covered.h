#pragma once

#include "lang/smartfrog/syntax/ast.h"
#include "tree/session.h"

namespace tutti::smartfrog::reference {

// Whether the definitions of the paper speak of all that a core specification says. What our core has beyond them
// (order rules, secrets) is told with its place: the definitions would drop it.
bool covered(Session& session, const Body& body);

}  // namespace tutti::smartfrog::reference
