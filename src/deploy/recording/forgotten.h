#pragma once

#include <string>
#include <vector>

#include "deploy/shared/forgetting.h"
#include "tree/value.h"

namespace tutti::deploy {

// The state without the components that are forgotten, and without these hosts. Of a component whose ports others hold
// a shade stays (RecordedComponent::forgotten): they could not be planned with a link that leads nowhere.
Value state_without(const Forgetting& forgetting, const std::vector<std::string>& hosts, const TreeBuilder& builder);

// What the journal says of each.
std::string note_of(const Forgetting::One& one);

}  // namespace tutti::deploy
