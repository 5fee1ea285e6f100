#include "lang/cue/builtin/registry.h"

namespace tutti::cue {

void register_packages() {}

}  // namespace tutti::cue
