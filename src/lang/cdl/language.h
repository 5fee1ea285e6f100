#pragma once

#include "lang/common/language.h"

namespace tutti::cdl {

// XML-CDL 1.0, the configuration description language of the CDDLM working group.
const Language& language();

}  // namespace tutti::cdl
