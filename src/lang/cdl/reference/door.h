#pragma once

#include "lang/common/language.h"

namespace tutti::cdl::reference {

// The resolution by its sections, from the command line.
std::optional<Value> by_rules(Session& session, const Request& request, Steps* steps);
// The fast one, seen as a resolved document is seen: types of computed values are not in a document.
std::optional<Value> as_rules_say(Session& session, const Request& request);

}  // namespace tutti::cdl::reference
