#include "lang/cdl/resolve/system.h"

namespace tutti::cdl {
std::string tree_to_cdl(const Value&, bool) { return {}; }
}  // namespace tutti::cdl
