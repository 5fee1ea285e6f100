#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deploy/planning/world.h"
#include "deploy/shared/forgetting.h"

namespace tutti::deploy {

// Components, and all that is on these hosts, to be taken out of the record where nothing can be done about them any
// more: their host is gone for good. nullopt, and an error, for names that are not there and for what is protected.
std::optional<Forgetting> plan_forgetting(Session& session, World& world, const std::string& system,
                                          const std::vector<std::string>& components,
                                          const std::vector<std::string>& hosts);

}  // namespace tutti::deploy
