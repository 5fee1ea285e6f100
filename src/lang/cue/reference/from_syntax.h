#pragma once

#include <span>

#include "lang/cue/reference/kcue.h"
#include "lang/cue/syntax/ast.h"
#include "tree/session.h"

namespace tutti::cue::kcue {

// The program of the core that CUE files of one package are; nullptr, with a diagnostic at each place, where they say
// more than the core can. References get the indices that CUE's lexical scoping gives their names.
TermPtr from_syntax(Session& session, std::span<ast::File* const> files);

// What the term of a finished run means, as a value of the common tree; what is bottom is told by its path.
std::optional<Value> to_tree(Session& session, const TermPtr& value);

}  // namespace tutti::cue::kcue
