#include "cli/apply_program.h"
#include "cli/system/recorded_call.h"
#include "cli/system_input.h"

namespace tutti {
namespace {

constexpr OptionSpec kRunOptions[] = {
    kTellOption,
    TUTTI_SYSTEM_OPTIONS,
    TUTTI_RUNNING_OPTIONS,
    {"no-journal", "", "remember nothing: a run that is cut off cannot be taken up again"},
    {"lock-timeout", "SECONDS", "wait so long for somebody else to be done"},
    {"lease", "SECONDS", "how long the lock outlives us when we die on another host (default 30)"},
    {"parallel", "N", "at most so many actions at once"},
    {"per-host", "N", "at most so many at once on one host"},
    {"continue", "", "the program goes on past instances that failed"},
    {"grace", "SECONDS", "between asking an action to stop and killing it (default 10)"},
    {"unsafe", "", "run it even if it can get stuck"},
    {"save", "FILE", "the assembly as it is at the end, to begin the next program with"},
    {"back", "FILE", "a verified program that brings back the assembly it began with"},
    {"trace", "FILE", "a trace for chrome://tracing or ui.perfetto.dev"},
    {"gantt", "FILE", "a chart of the run, as SVG"},
    {"quiet", "", "no progress", false, 'q'},
};

}  // namespace

extern const Verb run_verb = {
    .name = "run",
    .group = "Running",
    .summary = "run a reconfiguration program whose actions are commands",
    .arguments = "SYSTEM... [PROGRAM]",
    .details =
        "A transition's `run` is a shell command or a list of words; it may have `env`, `cwd`, `stdin`, "
        "`timeout` and `retry`.\n"
        "It finds the data of its used ports in variables PORT_KEY and gives its own by appending KEY=VALUE "
        "lines to the file $TUTTI_OUTPUT; `outcome=NAME` chooses the outcome of a switch. The program is "
        "verified before anything starts.\n"
        "Every action is journalled before it starts and after it ends: `tutti resume` takes up a run that "
        "was cut off, and `status`, `history` and `show` tell of it, under the name in `system` (or --system, "
        "or the file's name).",
    .examples =
        "$ tutti run shop.yaml\n$ tutti run --save now.json shop.yaml && \\\n    tutti run shop.yaml now.json "
        "update.concerto",
    .options = kRunOptions,
    .run = apply_program,
    .least = 1,
    .reads = true,
    .shows_steps = true,
};

}  // namespace tutti
