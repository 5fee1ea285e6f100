#pragma once

#include <optional>
#include <string>

#include "tree/session.h"

namespace tutti::cdl {

// A document laid out in one style: two columns a level, an element a line, attributes one space apart or, where the
// tag would be too long, one a line. What holds text is left as it is, to the byte; so are comments, whose first lines
// move with what is around them, and up to one empty line between elements. A signed document is not touched: every
// byte of it is signed. nullopt for what is not a CDL document.
std::optional<std::string> format_document(Session& session, const Source& source);

}  // namespace tutti::cdl
