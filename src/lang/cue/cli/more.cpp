#include "lang/cue/cli/plan.h"

namespace tutti::cue {

void run_trim(Program& p) { p.fail("trim is not supported yet"); }
void run_fix(Program& p) { p.fail("fix is not supported yet"); }

}  // namespace tutti::cue
