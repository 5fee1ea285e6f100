#pragma once

#include "engine/plan/recorded.h"

// Components that have another name than the one they are recorded under. A plan is made from the record in which they
// have the new one already; nothing is done where they are, and what is there goes by the name it was made with.
namespace tutti::engine {

using Renames = std::map<std::string, std::string>;  // the new name -> the old one

// Which of the recorded components are wanted under another name (`was`). Going `back`, who has had the wanted name
// before is meant, too. `notes` gets what is said of no avail.
Renames find_renames(const model::Deployment& wanted, const Recorded& recorded, const std::vector<std::string>& only,
                     bool back, std::vector<std::string>& notes);

Recorded renamed(const Recorded& recorded, const Renames& renames, const TreeBuilder& builder);

}  // namespace tutti::engine
