#pragma once

#include "lang/common/language.h"
#include "lang/smartfrog/production/production.h"
#include "lang/smartfrog/syntax/token.h"

namespace tutti::smartfrog {

// Says where a file means something else at the other level: the core evaluates in one pass from top to bottom, the
// production compiler in phases (section 9.2 of the paper). Warnings SF-LEVELS, the first few attributes that differ.
// Silent when the file is not written in what the two have in common.
void compare_levels(Session& session, const Request& request, Level level, const Value& value,
                    const production::Settings& settings);

}  // namespace tutti::smartfrog
