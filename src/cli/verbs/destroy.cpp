#include "cli/system/carry_out.h"
#include "cli/system/recorded_call.h"

namespace tutti {
namespace {

constexpr OptionSpec kDestroyOptions[] = {
    TUTTI_RUNNING_OPTIONS,
    TUTTI_CHANGING_OPTIONS,
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
    .group = "Running",
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
