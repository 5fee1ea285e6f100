#include "cli/system/recorded_call.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "base/near.h"
#include "cli/live.h"
#include "cli/system/record_place.h"
#include "cli/system/wanted.h"

namespace tutti {
namespace {

// Why a record is not used, and what to do about that.
void tell_unopened(Call& call, const std::string& directory, const Failure& why) {
  std::string code = why.code == store::kForeign         ? "STATE-FOREIGN"
                     : why.code == store::kFromElsewhere ? "STATE-ELSEWHERE"
                     : why.code == store::kNetworked     ? "STATE-NETWORK"
                                                         : "STATE-OPEN";
  Diagnostic& told = call.session.diagnostics.error(code, {}, why.message);
  if (why.code == store::kForeign)
    told.note("what is recorded is run: a record is used by its owner alone, when nobody else could have written it")
        .suggest(fmt::format("see who made {}, and remove it or make it yours alone (chown, chmod go-w); or keep the "
                             "record elsewhere: --state DIRECTORY",
                             directory));
  if (why.code == store::kNetworked) told.suggest("keep the record on a disk of this machine: --state DIRECTORY");
  if (why.code == store::kFromElsewhere)
    told.note("what is recorded is run, with the rights of whoever says so")
        .suggest("when it is yours, say so once: --adopt; otherwise remove it");
}

}  // namespace

bool RecordedCall::open(bool forget) {
  if (call.options.has("lease") && !lease()) {
    call.session.diagnostics.error("USE", {},
                                   fmt::format("--lease wants {:.0f} to {:.0f} seconds, not `{}`", kShortestLease,
                                               kLongestLease, call.options.get("lease")));
    return false;
  }
  std::signal(SIGPIPE, SIG_IGN);  // a reader of what is told that goes away must not end a run in the middle
  bool above = false;
  std::string directory = record_directory(call, &above);
  if (above && !forget && !call.arguments.empty() && !call.options.has("quiet"))
    say_now(fmt::format("(The record is {}; --state says otherwise.)\n", directory));
  auto p = forget ? deploy::record_in_memory() : deploy::open_record(directory, call.options.has("adopt"));
  if (!p) {
    tell_unopened(call, directory, p.error());
    return false;
  }
  record.emplace(std::move(*p));
  if (auto damage = forget ? "" : record->store->damage(); !damage.empty())
    call.session.diagnostics.warning("STATE-DAMAGED", {}, damage)
        .note("what is left can be read (`tutti history`, `tutti show`, `tutti status`), and nothing is done with it")
        .suggest("put a copy back; or, when you know that no action was under way, accept what is left: --adopt");
  std::unique_ptr<char, decltype(&std::free)> full(forget ? nullptr : ::realpath(record->directory.c_str(), nullptr),
                                                   std::free);
  if (full) record->directory = full.get();
  deployer = std::make_unique<deploy::Deployer>(call.session, *record);
  // The record of a Puppet agent is the machine's.
  bool beside = full && !call.options.has("as-puppet");
  hosts = std::make_unique<deploy::Hosts>(beside ? project_directory(call, record->directory) : "");
  return true;
}

std::optional<Value> RecordedCall::wanted() { return wanted_tree(call, call.arguments); }

bool RecordedCall::look() { return open(::access(record_directory(call).c_str(), F_OK) != 0); }

std::optional<std::vector<std::string>> RecordedCall::systems() {
  auto all = record->store->systems();
  if (!all) {
    call.session.diagnostics.error("STATE-READ", {}, all.error().message);
    return std::nullopt;
  }
  std::vector<std::string> live;
  for (auto& name : *all) {
    auto recorded = deployer->recorded(name);
    if (!recorded) return std::nullopt;
    if (!recorded->components.empty() || deployer->unfinished(name)) live.push_back(name);
  }
  return live.empty() ? *all : live;
}

std::string RecordedCall::the_system() {
  std::string name = call.options.get("system");
  if (!name.empty()) {
    auto all = record->store->systems();
    if (all && std::find(all->begin(), all->end(), name) != all->end()) return name;
    std::vector<std::string_view> known;
    if (all) known.assign(all->begin(), all->end());
    call.session.diagnostics.error("STATE-UNKNOWN", {}, fmt::format("there is no system `{}` here", name))
        .note(known.empty() ? "nothing is recorded here yet" : fmt::format("there are {}", fmt::join(known, ", ")))
        .did_you_mean(nearest(name, known));
    return "";
  }
  auto all = systems();
  if (!all) return "";
  if (all->size() == 1) return (*all)[0];
  if (all->empty())
    call.session.diagnostics.error("STATE-EMPTY", {}, "nothing is recorded here yet").suggest("tutti apply FILE");
  else
    call.session.diagnostics
        .error("STATE-WHICH", {}, fmt::format("there are several systems: {}", fmt::join(*all, ", ")))
        .suggest("--system NAME");
  return "";
}

}  // namespace tutti
