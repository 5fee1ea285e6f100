#pragma once

#include <string>

#include "lang/cdl/resolve/node.h"

namespace tutti::cdl {

// A resolved node in a form for comparing: expanded names, sorted attributes, ` open` on what still has a reference,
// and nothing about prefixes, layout or how a path is written. The reference resolver writes the same.
std::string canonical_text(const Node& node);

}  // namespace tutti::cdl
