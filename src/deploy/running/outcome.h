#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "engine/run/runner.h"

namespace tutti::deploy {

// What a run came to, for whoever asked for it. Data only: which exit code and which sentence that means is the command
// line's.
struct Outcome {
  i64 run = 0;
  bool finished = false, cancelled = false, unknown = false;
  bool open = false;  // the run is left as it is, for `resume`
  u32 changed = 0, failed = 0, unreachable = 0;
  u32 would = 0;  // catalogs: what would have been changed
  double seconds = 0;
  std::vector<std::string> failures;  // "db.start: ...", one line each
  std::vector<std::string> actions;   // of each of them, "db.start" where its result is not known, else ""
  std::vector<std::string> stuck;
  std::string summary;
  std::string wrong;                          // why nothing was done: the lock, a stale plan, the store
  int wrong_code = 0;                         // store::kHeld, ...
  std::string retry;                          // programs: an action that failed for good
  std::map<std::string, std::string> status;  // catalogs: instance -> ok, failed, skipped

  bool good() const { return wrong.empty() && finished && failed == 0 && !open && !unknown; }
  // Nothing was done, or nothing more can be.
  Outcome& refuse(const Failure& why);
  // An action whose result nobody knows and that only the user can tell of.
  void ask_about(const std::string& action);
  void sum_up(std::string_view what, bool left_open);
  // How the engine ended; false when the right to write was `lost` on the way, so that nothing more may be recorded.
  bool take(const engine::RunReport& report, const std::optional<std::string>& lost);
};

}  // namespace tutti::deploy
