#include <fmt/format.h>

#include "cli/apply_program.h"
#include "cli/running.h"
#include "deploy/encode.h"

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
    {"out", "FORMAT", "text (the default), json or yaml"},
    {"quiet", "", "no progress", false, 'q'},
};

// Somebody may have held a system who had not begun a run.
int break_locks(Running& running) {
  auto systems = running.place->store->systems();
  if (!systems) return exit_code::kError;
  deploy::Deployer::RunSettings settings;
  bool any = false;
  settings.events.line = [&](double, std::string_view text) {
    any = true;
    say_now(fmt::format("{}\n", text));
  };
  for (auto& name : *systems) {
    if (running.call.options.get("system", name) != name) continue;
    if (auto r = running.deployer->break_lock(name, settings); !r) {
      running.call.session.diagnostics.error("STATE-HELD", {}, r.error().message);
      return exit_code::kLocked;
    }
  }
  if (!any && running.as_text()) running.call.out.put("Nobody holds a lock, and every run has ended.\n");
  return running.answered(exit_code::kOk);
}

int run_resume(Call& call) {
  if (!can_tell(call)) return exit_code::kError;
  Running running(call);
  if (!running.look()) return exit_code::kError;
  std::vector<std::string> open;
  if (auto systems = running.place->store->systems(); systems && call.arguments.empty())
    for (auto& name : *systems)
      if (call.options.get("system", name) == name && running.deployer->unfinished(name)) open.push_back(name);
  if (open.size() > 1) {
    call.session.diagnostics
        .error("STATE-WHICH", {}, fmt::format("runs of several systems did not end: {}", fmt::join(open, ", ")))
        .suggest("--system NAME");
    return exit_code::kError;
  }
  i64 id = !call.arguments.empty() ? std::strtoll(call.arguments[0].c_str(), nullptr, 10)
           : open.empty()          ? 0
                                   : running.deployer->unfinished(open[0]);
  bool decided = !call.options.all("done").empty() || !call.options.all("repeat").empty();
  if (!id && decided) {  // of what failed in the last run, which has ended
    std::string system = running.the_system();
    if (system.empty()) return exit_code::kError;
    if (auto runs = running.place->store->runs(system, 1); runs && !runs->empty()) id = (*runs)[0].id;
  }
  // Of what cannot be read nobody can say that it has ended.
  if (auto systems = running.place->store->systems(); !id && !systems)
    call.session.diagnostics.error("STATE-READ", {}, systems.error().message);
  else if (!id)
    for (auto& name : *systems) running.deployer->recorded(name);
  if (!id && !call.session.diagnostics.ok()) return exit_code::kError;
  if (!id && !running.place->store->damage().empty()) {
    call.session.diagnostics.error("STATE-DAMAGED", {}, "whether a run is open cannot be told");
    return exit_code::kUnknown;
  }
  if (!id && call.options.has("break-lock")) return break_locks(running);
  if (!id) {
    if (running.as_text()) call.out.put("Nothing to resume: every run has ended.\n");
    return running.answered(exit_code::kOk);
  }
  auto record = running.place->store->run(id);
  std::optional<Value> flat;
  if (record && *record) flat = deploy::decode(call.session, "plan of the run", (*record)->plan, *running.place->seal);
  if (flat)
    if (const Entry* h = flat->find("hosts")) running.hosts->describe(h->value);
  auto settings = running.settings("resume");
  settings.give_up = call.options.has("stop");
  settings.break_lock = call.options.has("break-lock");
  for (auto& name : call.options.all("done")) settings.decisions[name] = "done";
  for (auto& name : call.options.all("repeat")) settings.decisions[name] = "repeat";
  if (record && *record && (*record)->kind == deploy::kProgramRun) {
    tell_program(call, settings);
    return report_program(running, running.deployer->resume(id, settings));
  }
  deploy::Outcome outcome = running.deployer->resume(id, settings);
  int code = report_outcome(running, outcome);
  if (settings.give_up && outcome.wrong.empty()) code = exit_code::kOk;  // as was asked for
  if (!outcome.good() || settings.give_up || (*record)->kind == deploy::kForgetRun) return running.answered(code);
  auto wanted = deploy::decode(call.session, fmt::format("run {}", id), (*record)->wanted, *running.place->seal);
  if (!wanted || !flat) return exit_code::kError;
  return running.answered(follow_up(running, (*record)->system, *wanted, *flat, "resume", code));
}

}  // namespace

extern const Verb resume_verb = {
    .name = "resume",
    .group = "Running",
    .summary = "go on with a run that was cut off",
    .arguments = "[RUN]",
    .details =
        "Nothing that was finished is done again. An action that was in flight is looked at first: when what it was to "
        "bring about "
        "is there it counts as done, when it can be repeated it is, and otherwise you are asked: --done or --repeat.\n"
        "A program that has ended because an action of it failed goes on the same way: --repeat starts the action "
        "again, --done declares it done. (Of planned systems the next plan repairs.)",
    .examples = "$ tutti resume\n$ tutti resume --repeat db.initialise",
    .options = kResumeOptions,
    .run = run_resume,
    .most = 1,
    .shows_steps = true,
};

}  // namespace tutti
