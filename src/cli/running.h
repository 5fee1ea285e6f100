#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "deploy/deployer.h"
#include "deploy/hosts.h"

// What the verbs that plan, run and look at systems share.
namespace tutti {

#define TUTTI_RUNNING_OPTIONS                                                                                      \
  {"state", "DIRECTORY", "where state and journal are kept (default .tutti)"},                                     \
      {"adopt", "", "the record is yours although it was made elsewhere (restored, copied, by an older tutti)"}, { \
    "system", "NAME", "the system, when it is not named in the configuration"                                      \
  }

inline constexpr OptionSpec kMaxStates = {"max-states", "N", "look at so many states of a plan (default 300000)"};

struct Running {
  explicit Running(Call& c) : call(c) {}
  // Opens the state; false (and a diagnostic) when that is impossible.
  // With `forget` everything is kept in memory only.
  bool open(bool forget = false);
  // The same for verbs that only look: where nothing is kept yet, nothing is made.
  bool look();
  // Makes the place for what is about to be done, where `look` has found none.
  bool remember() { return remembers() || open(); }
  bool remembers() const { return !place->directory.empty(); }
  // The only system that has anything, or the one asked for; "" and a diagnostic when there is none.
  std::string the_system();
  // Those that have components, or a run that did not end; all of them when none has. nullopt: a diagnostic.
  std::optional<std::vector<std::string>> systems();
  // The wanted tree from the call's files.
  std::optional<Value> wanted();
  std::optional<Value> components_of(const Value& catalog);
  deploy::Deployer::RunSettings settings(std::string command);
  u64 most_states() const;  // of a plan to be looked at
  u32 parallel() const;     // actions at once, as asked for
  // Whether --only can be heeded: a catalog has no components. False: a diagnostic.
  bool only_names_components(const Value& wanted);
  // Components of it whose process, on this machine, is to run and does not.
  std::set<std::string> dead(const std::string& system, const engine::Recorded& recorded);
  // A plan for what is wanted; with --refresh after a look at what is really there, which is told about. `unseen`
  // is the exit code for what could not be looked at.
  std::optional<deploy::Prepared> plan(const Value& wanted, int* unseen = nullptr);
  // Whether a new run may begin: 0, or the exit code (and a diagnostic) when one goes on or was cut off. Waits for one
  // that goes on as long as --lock-timeout says; then what was planned before may be out of date.
  int nothing_unfinished(const std::string& system, bool* waited = nullptr);

  // What was done, in a sentence or, with --out, for the answer that is written at the end.
  void tell(const deploy::Outcome& outcome, std::string_view sentence);
  bool as_text() const { return call.options.get("out", "text") == "text"; }
  // Writes that answer; the exit code, which is another one where that is impossible.
  int answered(int code);

  Call& call;
  std::vector<Value> told;  // of each run
  std::optional<deploy::Place> place;
  std::unique_ptr<deploy::Deployer> deployer;
  std::unique_ptr<deploy::Hosts> hosts;
};

// Whether what is asked for with --out is a format, and files that are to be written can be; otherwise a diagnostic.
bool can_tell(Call& call);

// The plan as people read it: what changes, how long it takes, what was proved.
std::string show_plan(Call& call, const deploy::Prepared& prepared, const deploy::Check* check, bool program);
Value plan_tree(Call& call, const deploy::Prepared& prepared, const deploy::Check* check);
std::string plan_summary(const deploy::Prepared& prepared, const deploy::Check* check);

// Asks on the terminal; false without one.
bool ask_yes(std::string_view question);

// Shows, asks, runs and reports: the common end of apply, destroy and rollback. The plan is made anew when somebody
// else was done first and --lock-timeout says to wait.
using Preparing = std::function<std::optional<deploy::Prepared>()>;
int carry_out(Running& running, std::string_view verb, const Preparing& prepare);
int report_outcome(Running& running, const deploy::Outcome& outcome);
// After a run that ended well, with exit code `code`: brings those to it who refer to values that it has changed, until
// nobody is left who does.
int follow_up(Running& running, const std::string& system, const Value& wanted, const Value& flat,
              std::string_view verb, int code);

void end_interrupts();                // the run is over: signals mean again what they always mean
void say_now(std::string_view text);  // to standard error, at once
void say_out(std::string_view text);  // to standard output, at once
std::string when(double time);        // 2026-11-15 20:31:07
std::string short_time(double seconds);

}  // namespace tutti
