// The common end of all verbs that change systems: show, ask, run, report.
//
// What flows in is a way to make the plan rather than a plan, because somebody else may be done first: then it is made
// anew from the state that they left. Nothing is made on disk before the answer to the question is yes.
#include "cli/system/carry_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "cli/live.h"
#include "cli/system/interrupts.h"
#include "cli/system/record_place.h"
#include "cli/system_input.h"
#include "cli/wording.h"

namespace tutti {
namespace {

// Whether the plan is to be made anew after this outcome; then nothing is said of this one.
using Stale = std::function<bool(const deploy::Outcome&)>;

deploy::Outcome run_plan(RecordedCall& here, const deploy::Prepared& prepared, std::string_view verb) {
  here.hosts->describe(deploy::hosts_of(prepared.plan.flat));
  auto settings = here.settings(std::string(verb));
  if (here.remembers() && !here.call.options.has("as-puppet")) remember_project(here.call, here.record->directory);
  return here.deployer->run(prepared, settings);
}

bool looks_only(const Call& call) { return call.options.has("dry-run") || call.options.has("noop"); }

// Whether the question is answered with yes, here or beforehand.
bool agreed(Call& call, const std::string& question) {
  if (call.options.has("yes") || ask_yes(question)) return true;
  call.session.diagnostics.error("RUN-REFUSED", {}, "nothing was done");
  return false;
}

void refuse(Call& call, const deploy::Check& check, std::string_view what) {
  if (!check.reaches) {
    call.session.diagnostics.error("PLAN-UNSAFE", {}, fmt::format("{} is not safe, so it is not run", what))
        .note("see above what can happen")
        .suggest("--unsafe runs it all the same");
    return;
  }
  call.session.diagnostics
      .error("PLAN-UNSAFE", {}, fmt::format("{} does not keep what must hold, so it is not run", what))
      .note("see above what is not kept, and why")
      .suggest("--unsafe runs it all the same: it reaches the wanted state");
}

// Nothing is to be changed. How a host is reached is written down all the same, for those who come without the
// configuration.
int nothing_to_do(RecordedCall& here, const deploy::Prepared& prepared, std::string_view verb, const Stale& stale) {
  Call& call = here.call;
  bool dry = looks_only(call);
  std::string_view more;
  if (!dry && prepared.hosts_differ()) {
    if (!here.remember()) return exit_code::kError;
    deploy::Outcome outcome = run_plan(here, prepared, verb);
    if (stale(outcome)) return exit_code::kError;
    if (!outcome.good()) return report_outcome(here, outcome);
    more = " How its hosts are reached is written down anew.";
  }
  if (call.options.has("as-puppet")) {
    call.out.put("Notice: Applied catalog in 0.00 seconds\n");
  } else if (here.as_text()) {
    auto only = call.options.all("only");
    call.out.put(fmt::format("No changes: {}`{}` is as {}.{}\n",
                             only.empty() ? "" : fmt::format("{} of ", fmt::join(only, ", ")), prepared.system,
                             call.options.has("refresh") ? "wanted" : "recorded; --refresh looks whether it still is",
                             more));
  } else if (dry && !prepared.catalog) {
    bool written = write_answer(call, plan_tree(call, prepared, nullptr), call.options.get("out"));
    return written ? exit_code::kOk : exit_code::kError;
  }
  return exit_code::kOk;
}

int carry_out_catalog(RecordedCall& here, const deploy::Prepared& prepared, std::string_view verb, const Stale& stale) {
  Call& call = here.call;
  bool dry = looks_only(call);
  if (dry && prepared.saved) {
    call.session.diagnostics.error("USE", {}, "a saved plan of a catalog is made already: there is no looking first")
        .suggest("the manifest itself, with --noop");
    return exit_code::kError;
  }
  std::string question =
      fmt::format("Bring about {} in `{}`?", counted(prepared.resources, "resource"), prepared.system);
  if (!dry && !call.options.has("as-puppet") && !agreed(call, question)) return exit_code::kError;
  if (!dry && !here.remember()) return exit_code::kError;
  auto settings = here.settings(std::string(verb));
  return apply_catalog(here, prepared, settings, stale);
}

int carry_out_plan(RecordedCall& here, const deploy::Prepared& prepared, std::string_view verb, const Stale& stale) {
  Call& call = here.call;
  deploy::Check check = here.deployer->check(prepared, here.most_states(), here.parallel());
  std::string text = show_plan(call, prepared, &check, call.options.has("program"));
  if (looks_only(call)) {
    if (here.as_text())
      call.out.put(text);
    else if (!write_answer(call, plan_tree(call, prepared, &check), call.options.get("out")))
      return exit_code::kError;
    return check.safe ? to_be_changed(call) : exit_code::kError;
  }
  if (!call.options.has("quiet") || !check.safe) say_now(text);
  if (!check.safe && !call.options.has("unsafe")) {
    refuse(call, check, "this plan");
    return exit_code::kError;
  }
  if (!agreed(call, fmt::format("Do this to `{}`?", prepared.system))) return exit_code::kError;
  if (!here.remember()) return exit_code::kError;
  deploy::Outcome outcome = run_plan(here, prepared, verb);
  if (stale(outcome)) return exit_code::kError;
  int code = report_outcome(here, outcome);
  return outcome.good() ? follow_up(here, prepared.system, prepared.wanted, prepared.plan.flat, verb, code) : code;
}

}  // namespace

int follow_up(RecordedCall& here, const std::string& system, const Value& wanted, const Value& flat,
              std::string_view verb, int code) {
  Call& call = here.call;
  // Those that follow may give other values themselves. References make no circles, so there is an end to it.
  for (;;) {
    bool wrong = false;
    auto next = here.deployer->follow_up(system, wanted, flat, wrong);
    if (wrong) return exit_code::kMixed;
    if (!next || next->empty()) return code;
    deploy::Check check = here.deployer->check(*next, here.most_states(), here.parallel());
    if (!call.options.has("quiet") || !check.safe) say_now(show_plan(call, *next, &check, call.options.has("program")));
    if (!check.safe && !call.options.has("unsafe")) {
      refuse(call, check, "what would bring the others to the new values");
      return exit_code::kMixed;
    }
    deploy::Outcome outcome = run_plan(here, *next, verb);
    int now = report_outcome(here, outcome);
    if (!outcome.good()) return now;
    code = std::max(code, now);
  }
}

int carry_out(RecordedCall& here, std::string_view verb, const Preparing& prepare) {
  Call& call = here.call;
  if (!can_write_files(call)) return exit_code::kError;
  double until = store::wall_clock() + std::strtod(call.options.get("lock-timeout", "0").c_str(), nullptr);
  for (;;) {
    auto prepared = prepare();
    if (!prepared) return exit_code::kError;
    bool waited = false;
    if (int busy = here.nothing_unfinished(prepared->system, &waited)) return busy;
    if (waited) continue;  // the state is another one now
    // Whoever waits for the others to be done finds the system as they left it.
    bool again = false;
    auto stale = [&](const deploy::Outcome& o) {
      again = o.wrong_code == store::kStale && !prepared->saved && store::wall_clock() < until;
      return again;
    };
    auto way = prepared->empty() ? nothing_to_do : prepared->catalog ? carry_out_catalog : carry_out_plan;
    int code = way(here, *prepared, verb, stale);
    if (!again) return call.options.has("dry-run") && !prepared->catalog ? code : here.answered(code);
    end_interrupts();
    if (!call.options.has("quiet")) say_now("`" + prepared->system + "` has been changed meanwhile: planned anew\n");
  }
}

}  // namespace tutti
