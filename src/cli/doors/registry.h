#pragma once

#include <span>
#include <vector>

#include "lang/common/language.h"
#include "project/project.h"

namespace tutti {

const Languages& languages();
std::span<const FrontEnd* const> front_ends();
std::vector<FrontEnd::OwnVerb> front_end_verbs();  // of all of them, by name

}  // namespace tutti
