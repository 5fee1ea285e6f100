#include <fmt/format.h>

#include "cli/live.h"
#include "cli/system/carry_out.h"
#include "cli/system/recorded_call.h"
#include "cli/wording.h"
#include "deploy/record/encode.h"

namespace tutti {
namespace {

constexpr OptionSpec kRollbackOptions[] = {
    TUTTI_RUNNING_OPTIONS,
    TUTTI_CHANGING_OPTIONS,
};

int run_rollback(Call& call) {
  RecordedCall here(call);
  if (!here.look()) return exit_code::kError;
  std::string system = here.the_system();
  if (system.empty()) return exit_code::kError;
  if (int busy = here.nothing_unfinished(system)) return busy;
  auto runs = here.record->store->runs(system, 1000);
  if (!runs) {
    call.session.diagnostics.error("STATE-READ", {}, runs.error().message);
    return exit_code::kError;
  }
  auto wanted_nothing = [](auto& r) { return r.kind == deploy::kForgetRun || r.kind == deploy::kLookRun; };
  // Runs that only followed the values of another belong to its call.
  std::erase_if(*runs, [&](auto& r) { return wanted_nothing(r) || r.kind == deploy::kFollowRun; });
  // The run to go back to: the one named, or the one before the last that left the system as it was wanted.
  i64 id = 0;
  if (!call.arguments.empty()) {
    id = std::strtoll(call.arguments[0].c_str(), nullptr, 10);
  } else {
    for (std::size_t i = 1; i < runs->size() && !id; ++i)
      if ((*runs)[i].status == "done") id = (*runs)[i].id;
  }
  auto record = here.record->store->run(id);
  if (!id || !record || !*record || (*record)->system != system || wanted_nothing(**record)) {
    call.session.diagnostics
        .error("ROLLBACK-NONE", {},
               call.arguments.empty()
                   ? "there is no earlier run to go back to"
                   : fmt::format("there is no run {} of `{}` to go back to", call.arguments[0], system))
        .suggest("tutti history");
    return exit_code::kError;
  }
  if ((*record)->kind == deploy::kProgramRun) {
    call.session.diagnostics
        .error("STATE-PROGRAM", {}, fmt::format("run {} ran a program as it was written: no plan leads back to it", id))
        .suggest("a program (`tutti run --back` writes one that leads back)");
    return exit_code::kError;
  }
  auto wanted = deploy::decode(call.session, fmt::format("run {}", id), (*record)->wanted, *here.record->seal);
  if (!wanted) return exit_code::kError;
  // A run that looked at some components only has said nothing of the others.
  engine::PlanOptions options;
  auto plan = deploy::decode(call.session, fmt::format("plan of run {}", id), (*record)->plan, *here.record->seal);
  if (const Entry* only = plan && plan->is(Kind::kMap) ? plan->find("only") : nullptr;
      only && only->value.is(Kind::kList))
    for (const Value& name : only->value.items()) options.only.emplace_back(name.text());
  say_now(fmt::format("Back to run {} ({}{}).\n", id, when((*record)->started),
                      options.only.empty() ? "" : fmt::format(", only {}", fmt::join(options.only, ", "))));
  const std::string kind(deploy::kRollbackRun);
  return carry_out(here, kind, [&] {
    if (!resource::is_catalog(*wanted)) return here.deployer->prepare(*wanted, system, kind, options);
    auto prepared = here.deployer->prepare_catalog(*wanted, system, {.noop = call.options.has("dry-run")});
    if (prepared) prepared->kind = kind;
    return prepared;
  });
}

}  // namespace

extern const Verb rollback_verb = {
    .name = "rollback",
    .group = "Running",
    .summary = "go back to what an earlier run wanted",
    .arguments = "[RUN]",
    .details =
        "Nothing is undone blindly: a new plan is made from what is there now to what was wanted then, "
        "verified and run like any other. Without a number it goes back to the last run before the latest "
        "that ended well; runs that only followed the values of another (`follow` in the history) count as "
        "part of it.",
    .examples = "$ tutti rollback\n$ tutti rollback 12",
    .options = kRollbackOptions,
    .run = run_rollback,
    .most = 1,
    .shows_steps = true,
};

}  // namespace tutti
