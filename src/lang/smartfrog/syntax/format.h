#pragma once

#include <optional>
#include <string>

#include "lang/smartfrog/syntax/token.h"
#include "tree/session.h"

namespace tutti::smartfrog {

// The text laid out: one attribute a line, two blanks for each block, one blank between tokens, comments and single
// empty lines kept where they are, short blocks kept on one line where they were. Only white space changes, so the
// meaning can not; formatting twice changes nothing. nullopt when it cannot be parsed.
std::optional<std::string> format_source(Session& session, const Source& source, Level level);

}  // namespace tutti::smartfrog
