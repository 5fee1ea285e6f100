#pragma once

#include "base/budget.h"
#include "tree/value.h"

namespace tutti {

// `over` laid over `under`: maps are joined key by key, and everything else of the later one wins. What is in a secret
// map stays secret, whichever of the two says so. `budget`: of the request, whose depth is counted.
Value layered(const Value& under, const Value& over, const TreeBuilder& builder, Budget& budget);

}  // namespace tutti
