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

// A call of a verb that plans, runs or looks at systems, with the record that it is about. The order in which a verb
// uses it: open the record, read what is wanted, plan, carry out (cli/system/carry_out.h), report.
namespace tutti {

#define TUTTI_RUNNING_OPTIONS                                                                                      \
  {"state", "DIRECTORY", "where state and journal are kept (default .tutti)"},                                     \
      {"adopt", "", "the record is yours although it was made elsewhere (restored, copied, by an older tutti)"}, { \
    "system", "NAME", "the system, when it is not named in the configuration"                                      \
  }

// A lease that ends at once protects nobody, and one that never ends is in everybody's way: in seconds.
inline constexpr double kShortestLease = 1, kLongestLease = 86400;

inline constexpr OptionSpec kMaxStates = {"max-states", "N", "look at so many states of a plan (default 300000)"};

class RecordedCall {
 public:
  explicit RecordedCall(Call& c) : call(c) {}
  // Opens the state; false (and a diagnostic) when that is impossible.
  // With `forget` everything is kept in memory only.
  bool open(bool forget = false);
  // The same for verbs that only look: where nothing is kept yet, nothing is made.
  bool look();
  // Makes the record for what is about to be done, where `look` has found none.
  bool remember() { return remembers() || open(); }
  bool remembers() const { return !record->directory.empty(); }
  // The only system that has anything, or the one asked for; "" and a diagnostic when there is none.
  std::string the_system();
  // Those that have components, or a run that did not end; all of them when none has. nullopt: a diagnostic.
  std::optional<std::vector<std::string>> systems();
  // The wanted tree from the call's files.
  std::optional<Value> wanted();
  deploy::RunSettings settings(std::string command);
  // How long the lease is to be, as --lease says; nullopt when it says nothing that can be used.
  std::optional<double> lease() const;
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
  std::optional<deploy::Record> record;
  std::unique_ptr<deploy::Deployer> deployer;
  std::unique_ptr<deploy::Hosts> hosts;
};

// Whether the files that the options name can be written; otherwise a diagnostic.
bool can_write_files(Call& call);

// The plan as people read it: what changes, how long it takes, what was proved.
std::string show_plan(Call& call, const deploy::Prepared& prepared, const deploy::Check* check, bool program);
Value plan_tree(Call& call, const deploy::Prepared& prepared, const deploy::Check* check);
std::string plan_summary(const deploy::Prepared& prepared, const deploy::Check* check);

// What a run came to, told in sentences and diagnostics; the exit code.
int report_outcome(RecordedCall& here, const deploy::Outcome& outcome);
// The exit code where something would be changed: 0, so that scripts go on, unless it is asked for.
int to_be_changed(const Call& call);
// The exit code of a run in which something failed.
int failure_code(const deploy::Outcome& outcome);

}  // namespace tutti
