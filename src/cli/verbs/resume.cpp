#include <fmt/format.h>

#include "cli/apply_program.h"
#include "cli/live.h"
#include "cli/system/carry_out.h"
#include "cli/system/recorded_call.h"
#include "deploy/record/encode.h"

namespace tutti {
namespace {

constexpr OptionSpec kResumeOptions[] = {
    TUTTI_RUNNING_OPTIONS,
    {"done", "ACTION", "this action, whose result is not known or that failed, is done (`db.start`)", true},
    {"repeat", "ACTION", "this action, whose result is not known or that failed, is to be done again", true},
    {"stop", "", "start nothing more: write down how things are and end the run"},
    {"break-lock", "", "take the system from whoever holds it, whose machine is gone for good"},
    {"full", "", "show every value of the plan uncut"},
    {"parallel", "N", "at most N actions at once", false, 'j'},
    {"lease", "SECONDS", "how long the lock outlives us when we die on another host (default 30)"},
    {"detailed-exitcode", "", "2 when something was changed"},
    kTellOption,
    {"quiet", "", "no progress", false, 'q'},
};

// Somebody may have held a system who had not begun a run.
int break_locks(RecordedCall& here) {
  auto systems = here.record->store->systems();
  if (!systems) return exit_code::kError;
  deploy::RunSettings settings;
  bool any = false;
  settings.events.line = [&](double, std::string_view text) {
    any = true;
    say_now(fmt::format("{}\n", text));
  };
  for (auto& name : *systems) {
    if (here.call.options.get("system", name) != name) continue;
    if (auto r = here.deployer->break_lock(name, settings); !r) {
      here.call.session.diagnostics.error("STATE-HELD", {}, r.error().message);
      return exit_code::kLocked;
    }
  }
  if (!any && here.as_text()) here.call.out.put("Nobody holds a lock, and every run has ended.\n");
  return here.answered(exit_code::kOk);
}

int run_resume(Call& call) {
  if (!can_write_files(call)) return exit_code::kError;
  RecordedCall here(call);
  if (!here.look()) return exit_code::kError;
  std::vector<std::string> open;
  if (auto systems = here.record->store->systems(); systems && call.arguments.empty())
    for (auto& name : *systems)
      if (call.options.get("system", name) == name && here.deployer->unfinished(name)) open.push_back(name);
  if (open.size() > 1) {
    call.session.diagnostics
        .error("STATE-WHICH", {}, fmt::format("runs of several systems did not end: {}", fmt::join(open, ", ")))
        .suggest("--system NAME");
    return exit_code::kError;
  }
  i64 id = !call.arguments.empty() ? std::strtoll(call.arguments[0].c_str(), nullptr, 10)
           : open.empty()          ? 0
                                   : here.deployer->unfinished(open[0]);
  bool decided = !call.options.all("done").empty() || !call.options.all("repeat").empty();
  if (!id && decided) {  // of what failed in the last run, which has ended
    std::string system = here.the_system();
    if (system.empty()) return exit_code::kError;
    if (auto runs = here.record->store->runs(system, 1); runs && !runs->empty()) id = (*runs)[0].id;
  }
  // Of what cannot be read nobody can say that it has ended.
  if (auto systems = here.record->store->systems(); !id && !systems)
    call.session.diagnostics.error("STATE-READ", {}, systems.error().message);
  else if (!id)
    for (auto& name : *systems) here.deployer->recorded(name);
  if (!id && !call.session.diagnostics.ok()) return exit_code::kError;
  if (!id && !here.record->store->damage().empty()) {
    call.session.diagnostics.error("STATE-DAMAGED", {}, "whether a run is open cannot be told");
    return exit_code::kUnknown;
  }
  if (!id && call.options.has("break-lock")) return break_locks(here);
  if (!id) {
    if (here.as_text()) call.out.put("Nothing to resume: every run has ended.\n");
    return here.answered(exit_code::kOk);
  }
  auto record = here.record->store->run(id);
  std::optional<Value> flat;
  if (record && *record) flat = deploy::decode(call.session, "plan of the run", (*record)->plan, *here.record->seal);
  if (flat) here.hosts->describe(deploy::hosts_of(*flat));
  auto settings = here.settings("resume");
  settings.give_up = call.options.has("stop");
  settings.break_lock = call.options.has("break-lock");
  for (auto& name : call.options.all("done")) settings.decisions[name] = "done";
  for (auto& name : call.options.all("repeat")) settings.decisions[name] = "repeat";
  if (record && *record && (*record)->kind == deploy::kProgramRun) {
    tell_program(call, settings);
    return report_program(here, here.deployer->resume(id, settings));
  }
  deploy::Outcome outcome = here.deployer->resume(id, settings);
  int code = report_outcome(here, outcome);
  if (settings.give_up && outcome.wrong.empty()) code = exit_code::kOk;  // as was asked for
  if (!outcome.good() || settings.give_up || (*record)->kind == deploy::kForgetRun) return here.answered(code);
  auto wanted = deploy::decode(call.session, fmt::format("run {}", id), (*record)->wanted, *here.record->seal);
  if (!wanted || !flat) return exit_code::kError;
  return here.answered(follow_up(here, (*record)->system, *wanted, *flat, "resume", code));
}

}  // namespace

extern const Verb resume_verb = {
    .name = "resume",
    .group = "Running",
    .summary = "go on with a run that was cut off",
    .arguments = "[RUN]",
    .details =
        "Nothing that was finished is done again. An action that was in flight is looked at first: when what "
        "it was to bring about is there it counts as done, when it can be repeated it is, and otherwise you "
        "are asked: --done or --repeat.\n"
        "A program that has ended because an action of it failed goes on the same way: --repeat starts the "
        "action again, --done declares it done. (Of planned systems the next plan repairs.)",
    .examples = "$ tutti resume\n$ tutti resume --repeat db.initialise",
    .options = kResumeOptions,
    .run = run_resume,
    .most = 1,
    .shows_steps = true,
};

}  // namespace tutti
