#pragma once

#include <string>

#include "base/types.h"

namespace tutti::cdl::reference {

// A random document: small lists with few names, so that they meet; most references lead somewhere. The same seed, the
// same document.
std::string random_document(u64 seed);

}  // namespace tutti::cdl::reference
