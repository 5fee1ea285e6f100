#include <fmt/format.h>

#include <set>

#include "cli/live.h"
#include "cli/system/recorded_call.h"
#include "cli/system_input.h"
#include "cli/wording.h"
#include "deploy/shared/forgetting.h"

namespace tutti {
namespace {

constexpr OptionSpec kForgetOptions[] = {
    TUTTI_RUNNING_OPTIONS,
    {"host", "HOST", "everything on this host", true},
    {"yes", "", "do not ask", false, 'y'},
    {"dry-run", "", "show what would be forgotten and forget nothing"},
    {"force", "", "also where the host still answers: what runs there is left to itself"},
    {"lock-timeout", "SECONDS", "wait so long for somebody else to be done"},
    kTellOption,
};

std::string_view place_name(Symbol host) { return host.empty() ? "this machine" : host.text(); }

std::string shown(const deploy::Forgetting& f) {
  std::string text;
  for (auto& one : f.components) {
    text += fmt::format("- {} ({} on {}), last seen {}\n", one.component, one.type, place_name(one.host), one.state);
    for (auto& held : one.held) text += fmt::format("    left as it is: {}\n", held);
    if (!one.users.empty())
      text +=
          fmt::format("    used by {}: the next plan leads elsewhere whoever uses it\n", fmt::join(one.users, ", "));
  }
  return text + fmt::format("Forget: {}; nothing is done on any host.\n", counted(f.components.size(), "component"));
}

// What still answers can be taken down as it should be, so nobody need forget it.
bool gone(RecordedCall& here, const deploy::Forgetting& f) {
  if (const Entry* h = f.state.find("hosts")) here.hosts->describe(h->value);
  std::set<Symbol> asked;
  bool all = true;
  for (auto& one : f.components) {
    if (!asked.insert(one.host).second) continue;
    Host* host = here.hosts->find(one.host);
    if (!host || host->shell("true", std::chrono::seconds(20)).end == CommandResult::End::kLost) continue;
    here.call.session.diagnostics
        .error("FORGET-ANSWERS", {},
               fmt::format("{} still answers: what is there can be removed", place_name(one.host)))
        .suggest(
            "take it out of the configuration and apply that, or `tutti destroy`; --force forgets it all the same");
    all = false;
  }
  return all;
}

int run_forget(Call& call) {
  auto hosts = call.options.all("host");
  if (call.arguments.empty() && hosts.empty()) {
    call.session.diagnostics.error("FORGET-WHAT", {}, "name the components to forget, or a host with --host")
        .suggest("tutti status");
    return exit_code::kError;
  }
  if (!can_write_files(call)) return exit_code::kError;
  RecordedCall here(call);
  if (!here.look()) return exit_code::kError;
  std::string system = here.the_system();
  if (system.empty()) return exit_code::kError;
  if (int busy = here.nothing_unfinished(system)) return busy;
  auto forgetting = here.deployer->prepare_forget(system, call.arguments, hosts);
  if (!forgetting) return exit_code::kError;
  if (call.options.has("dry-run")) {
    call.out.put(shown(*forgetting));
    return exit_code::kOk;
  }
  say_now(shown(*forgetting));
  if (!call.options.has("force") && !gone(here, *forgetting)) return exit_code::kError;
  if (!call.options.has("yes") && !ask_yes(fmt::format("Forget this of `{}`?", system))) {
    call.session.diagnostics.error("RUN-REFUSED", {}, "nothing was forgotten");
    return exit_code::kError;
  }
  auto settings = here.settings("forget");
  return here.answered(report_outcome(here, here.deployer->forget(*forgetting, settings)));
}

}  // namespace

extern const Verb forget_verb = {
    .name = "forget",
    .group = "Running",
    .summary = "take out of the record what is on a host that is gone for good",
    .arguments = "[COMPONENT...]",
    .details =
        "Nothing is done on any host: what was there, and was not lost with it, is left to itself. A host "
        "that still answers is refused, and so is what is protected. Whoever used what is forgotten is led to "
        "another one by the next plan. The run is in the history.",
    .examples = "$ tutti forget --host h2 --dry-run\n$ tutti forget --yes web3",
    .options = kForgetOptions,
    .run = run_forget,
};

}  // namespace tutti
