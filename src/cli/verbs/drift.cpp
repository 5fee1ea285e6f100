#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "cli/system/recorded_call.h"
#include "cli/system_input.h"

namespace tutti {
namespace {

constexpr OptionSpec kDriftOptions[] = {
    TUTTI_RUNNING_OPTIONS,
    {"ignore", "PATTERN", "say nothing about resources like this (`file /etc/*`)", true},
    kTellOption,
};

// A whole digest tells a reader nothing that its beginning does not.
std::string shortened(const std::string& value) {
  std::size_t digits = value.find_last_not_of("0123456789abcdef") + 1;
  return value.size() - digits == 64 ? value.substr(0, digits + 12) : value;
}

// In a run that has not ended things are where its journal says; of what it was doing nobody knows how it went.
void follow_journal(RecordedCall& here, const std::string& system, i64 run, engine::Recorded& recorded,
                    std::vector<deploy::Drift>& found) {
  if (auto standing = here.deployer->standing(run)) {
    here.hosts->describe(standing->hosts);
    recorded = std::move(standing->recorded);
    for (auto& [name, doing] : standing->open)
      found.push_back({name, "", fmt::format("{}", fmt::join(doing, ", ")), {}, "its result is not known"});
  }
  auto lock = here.record->store->lock(system);
  bool goes_on = lock && *lock && store::held(**lock, store::wall_clock());
  found.push_back(
      {system, "", fmt::format("run {}", run), {}, goes_on ? "it is going on" : "it did not end (tutti resume)"});
}

bool is_ignored(const deploy::Drift& d, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](auto& p) {
    return ::fnmatch(p.c_str(), d.resource.c_str(), 0) == 0 || ::fnmatch(p.c_str(), d.component.c_str(), 0) == 0;
  });
}

std::vector<deploy::Drift> look(RecordedCall& here, const std::string& system, const engine::Recorded& recorded) {
  auto settings = here.settings("drift");
  settings.executor.scope = here.deployer->scope_of(system);
  std::vector<deploy::Drift> found;
  for (auto& d : deploy::look_for_drift(recorded, settings.executor)) {
    if (d.type == "notify") continue;  // said is said
    if (std::all_of(d.changes.begin(), d.changes.end(), [](auto& c) { return c.unknown; }) && d.problem.empty()) {
      d.problem = "it has no check";
      d.changes.clear();
    }
    found.push_back(std::move(d));
  }
  return found;
}

Value as_tree(const TreeMaker& make, const std::vector<deploy::Drift>& found) {
  std::vector<Value> list;
  for (auto& d : found) {
    std::vector<Value> changes;
    for (auto& c : d.changes)
      changes.push_back(
          make.map({{"property", make.text(c.property)}, {"is", make.text(c.from)}, {"should", make.text(c.to)}}));
    list.push_back(make.map({{"component", make.text(d.component)},
                             {"resource", make.text(d.resource)},
                             {"problem", make.text(d.problem)},
                             {"changes", make.list(changes)}}));
  }
  return make.list(list);
}

void tell(Call& call, const std::string& system, const std::vector<deploy::Drift>& found, bool catalog) {
  std::size_t unseen = 0;
  for (auto& d : found) {
    unseen += !d.problem.empty();
    if (!d.problem.empty())
      call.out.put(fmt::format("? {}: {}: cannot be looked at: {}\n", d.component, d.resource, d.problem));
    for (auto& c : d.changes)
      call.out.put(fmt::format("≠ {}: {}{}{}: {} is {}, should be {}\n", d.component, d.resource,
                               c.subject.empty() ? "" : " ", c.subject, c.property, shortened(c.from),
                               shortened(c.to)));
  }
  std::size_t differ = found.size() - unseen;
  if (found.empty()) call.out.put(fmt::format("No drift: everything that `{}` holds is as it was left.\n", system));
  if (differ)
    call.out.put(fmt::format("{} of what `{}` holds {}; `tutti apply{} FILE` brings {} back.\n", differ, system,
                             differ == 1 ? "differs" : "differ", catalog ? "" : " --refresh",
                             differ == 1 ? "it" : "them"));
  if (unseen) call.out.put(fmt::format("{} cannot be looked at.\n", unseen));
}

int run_drift(Call& call) {
  RecordedCall here(call);
  if (!here.look()) return exit_code::kError;
  std::string system = here.the_system();
  if (system.empty()) return exit_code::kError;
  auto recorded = here.deployer->recorded(system);
  if (!recorded) return exit_code::kError;
  if (recorded->program) {
    call.session.diagnostics
        .error("STATE-PROGRAM", {},
               fmt::format("`{}` is what a program left: what its commands brought about cannot be looked at", system))
        .suggest("tutti status");
    return exit_code::kError;
  }
  here.hosts->describe(recorded->hosts);
  std::vector<deploy::Drift> found;
  if (i64 run = here.deployer->unfinished(system)) follow_journal(here, system, run, *recorded, found);
  if (!call.session.diagnostics.ok()) return exit_code::kError;
  auto seen = look(here, system, *recorded);
  found.insert(found.end(), std::make_move_iterator(seen.begin()), std::make_move_iterator(seen.end()));
  auto patterns = call.options.all("ignore");
  std::erase_if(found, [&](auto& d) { return is_ignored(d, patterns); });
  int code = found.empty() ? exit_code::kOk : exit_code::kDifferent;
  for (auto& d : found)
    if (d.unreachable) code |= exit_code::kUnreachable;
  if (std::string out = call.options.get("out", "text"); out != "text")
    return write_answer(call, as_tree(TreeMaker(call.session), found), out) ? code : exit_code::kError;
  tell(call, system, found, recorded->catalog());
  return code;
}

}  // namespace

extern const Verb drift_verb = {
    .name = "drift",
    .group = "Running",
    .summary = "what is no longer as the last run left it",
    .arguments = "",
    .details = "Looks and never writes. Exit code 0: no drift; 2: some, or something that cannot be known.",
    .examples = "$ tutti drift\n$ tutti drift --ignore 'file /var/log/*'",
    .options = kDriftOptions,
    .run = run_drift,
    .most = 0,
};

}  // namespace tutti
