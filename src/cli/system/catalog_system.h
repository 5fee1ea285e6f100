#pragma once

#include <optional>

#include "cli/verb.h"

namespace tutti {

// The system that a Puppet catalog describes with `tutti::component` and `tutti::system`; nullopt when it declares no
// component, so that it is applied as a catalog. Resources beside components are an error: they would be left out
// without a word.
std::optional<Value> system_of_catalog(Call& call, const Value& catalog);

}  // namespace tutti
