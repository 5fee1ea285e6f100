#include "cli/system/carry_out.h"
#include "cli/system/recorded_call.h"

namespace tutti {
namespace {

constexpr OptionSpec kDestroyOptions[] = {
    TUTTI_RUNNING_OPTIONS,
    {"yes", "", "do not ask", false, 'y'},
    {"dry-run", "", "show what would be done and touch nothing"},
    {"parallel", "N", "at most N actions at once", false, 'j'},
    {"lock-timeout", "SECONDS", "wait so long for somebody else to be done"},
    {"full", "", "show every value of the plan uncut"},
    {"program", "", "show the reconfiguration program too"},
    kMaxStates,
    {"unsafe", "", "run it even if it is not safe"},
    {"detailed-exitcode", "", "2 when something was changed"},
    {"out", "FORMAT", "text (the default), json or yaml"},
    {"quiet", "", "no progress", false, 'q'},
};

int run_destroy(Call& call) {
  RecordedCall here(call);
  if (!here.look()) return exit_code::kError;
  std::string system = here.the_system();
  if (system.empty()) return exit_code::kError;
  if (int busy = here.nothing_unfinished(system)) return busy;
  return carry_out(here, "destroy", [&] { return here.deployer->prepare_removal(system); });
}

}  // namespace

extern const Verb destroy_verb = {
    .name = "destroy",
    .group = "RecordedCall",
    .summary = "take a whole system down again",
    .arguments = "",
    .details = "Everything that is recorded is removed, users before what they use.",
    .examples = "$ tutti destroy --dry-run\n$ tutti destroy --system shop --yes",
    .options = kDestroyOptions,
    .run = run_destroy,
    .most = 0,
    .shows_steps = true,
};

}  // namespace tutti
