#pragma once

#include <span>

#include "lang/common/language.h"
#include "project/project.h"

namespace tutti {

const Languages& languages();
std::span<const FrontEnd* const> front_ends();

}  // namespace tutti
