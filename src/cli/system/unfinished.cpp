// Whether a new run may begin while another goes on, or was cut off. What flows in is a system; what flows out is the
// leave to begin, or why not. What a machine may answer by itself about a run that was cut off is said beforehand, by
// whoever sets up the timer (--unfinished): nothing is guessed, because what is done twice cannot be taken back.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "cli/live.h"
#include "cli/system/interrupts.h"
#include "cli/system/recorded_call.h"
#include "deploy/record/encode.h"

namespace tutti {
namespace {

// Every resource of a catalog is looked at anyway, and whoever calls it every half hour resumes nothing: the next one
// takes over.
std::optional<int> give_up(RecordedCall& here, i64 run, deploy::RunSettings ending) {
  ending.give_up = true;
  ending.events = {};
  ending.listener = {};
  deploy::Outcome ended = here.deployer->resume(run, ending);
  end_interrupts();
  if (!ended.wrong.empty()) return std::nullopt;
  return here.call.code();
}

// Goes on with it as `tutti resume` does. With `repeat` also what nobody can look at is done again.
std::optional<int> go_on(RecordedCall& here, i64 run, deploy::RunSettings settings, bool repeat) {
  auto record = here.record->store->run(run);
  if (!record || !*record) return std::nullopt;
  auto flat = deploy::decode(here.call.session, "plan of the run", (*record)->plan, *here.record->seal);
  if (flat) here.hosts->describe(deploy::hosts_of(*flat));
  say_now(fmt::format("Run {} was cut off: it is gone on with first.\n", run));
  deploy::Outcome o = here.deployer->resume(run, settings);
  if (o.unknown && repeat && o.unreachable == 0) {
    for (auto& action : o.actions)
      if (!action.empty()) settings.decisions[action] = "repeat";
    o = here.deployer->resume(run, settings);
  }
  bool open = !o.wrong.empty() || o.open || o.unknown;
  if (open) return report_outcome(here, o);
  end_interrupts();
  say_now(fmt::format("Run {} is at its end: {}.\n", run, o.summary));
  return here.call.code();
}

// What was said beforehand about runs that were cut off; nullopt: nothing, so whoever calls is told.
std::optional<int> answer_for(RecordedCall& here, i64 run) {
  const Options& options = here.call.options;
  std::string what = options.get("unfinished");
  std::optional<int> code;
  if (options.has("as-puppet"))
    code = give_up(here, run, here.settings("resume"));
  else if (what == "resume" || what == "repeat")
    code = go_on(here, run, here.settings("resume"), what == "repeat");
  return code;
}

}  // namespace

int RecordedCall::nothing_unfinished(const std::string& system, bool* waited) {
  i64 run = deployer->unfinished(system);
  double until = store::wall_clock() + std::strtod(call.options.get("lock-timeout", "0").c_str(), nullptr);
  for (; run; run = deployer->unfinished(system)) {
    auto lock = record->store->lock(system);
    double now = store::wall_clock();
    if (!lock || !*lock || !store::held(**lock, now)) {
      // It was cut off; or it has ended since we asked, before it let go of the lock.
      if (deployer->unfinished(system) == run) break;
      if (waited) *waited = true;
      continue;
    }
    if (now >= until) {
      call.session.diagnostics.error("STATE-HELD", {},
                                     fmt::format("{} is in use by {}", system, store::describe(**lock, now)));
      return exit_code::kLocked;
    }
    if (waited) *waited = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  if (!run) return call.code();
  if (auto ended = answer_for(*this, run)) {
    if (waited) *waited = true;
    return *ended;
  }
  std::string directory = call.options.get("state");
  call.session.diagnostics.error("STATE-UNFINISHED", {}, fmt::format("run {} of `{}` did not end", run, system))
      .note("what it was doing is in its journal")
      .suggest("tutti resume" + (directory.empty() ? "" : " --state " + directory));
  return exit_code::kUnknown;
}

}  // namespace tutti
