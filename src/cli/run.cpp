#include "cli/run.h"

namespace tutti {

int run(int, char**) { return 0; }

}  // namespace tutti
