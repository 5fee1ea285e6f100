#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "cli/system/recorded_call.h"

namespace tutti {

// Options of the verbs that need no configuration to change a system.
#define TUTTI_CHANGING_OPTIONS                                                                                     \
  {"yes", "", "do not ask", false, 'y'}, {"dry-run", "", "show what would be done and touch nothing"},             \
      {"parallel", "N", "at most N actions at once", false, 'j'},                                                  \
      {"lock-timeout", "SECONDS", "wait so long for somebody else to be done"},                                    \
      {"full", "", "show every value of the plan uncut"}, {"program", "", "show the reconfiguration program too"}, \
      kMaxStates, {"unsafe", "", "run it even if it is not safe"},                                                 \
      {"detailed-exitcode", "", "2 when something was changed (with --dry-run: would be)"}, kTellOption, {         \
    "quiet", "", "no progress", false, 'q'                                                                         \
  }

// Shows, asks, runs and reports: the common end of apply, destroy and rollback. The plan is made anew when somebody
// else was done first and --lock-timeout says to wait.
using Preparing = std::function<std::optional<deploy::Prepared>()>;
int carry_out(RecordedCall& here, std::string_view verb, const Preparing& prepare);

// After a run that ended well, with exit code `code`: brings those to it who refer to values that it has changed, until
// nobody is left who does.
int follow_up(RecordedCall& here, const std::string& system, const Value& wanted, const Value& flat,
              std::string_view verb, int code);

// Applies a catalog and tells of it as Puppet does. `stale` is asked before anything is said of the outcome.
int apply_catalog(RecordedCall& here, const deploy::Prepared& prepared, deploy::RunSettings& settings,
                  const std::function<bool(const deploy::Outcome&)>& stale);

}  // namespace tutti
