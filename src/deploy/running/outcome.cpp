#include "deploy/running/outcome.h"

#include <fmt/format.h>

#include "store/store.h"

namespace tutti::deploy {

Outcome& Outcome::refuse(const Failure& why) {
  wrong = why.message;
  wrong_code = why.code;
  return *this;
}

void Outcome::ask_about(const std::string& action) {
  unknown = true;
  actions.push_back(action);
  failures.push_back(fmt::format("{}: its result is not known", action));
  summary = "the result of an action is not known";
}

void Outcome::sum_up(std::string_view what, bool left_open) {
  open = open || left_open;
  summary = fmt::format("{} {}, {} {} in {:.1f} s", changed, what, failed,
                        unknown ? "without a known result" : "failed", seconds);
}

bool Outcome::take(const engine::RunReport& report, const std::optional<std::string>& lost) {
  finished = report.finished;
  cancelled = report.cancelled && !lost;
  seconds = report.total;
  if (!lost) return true;
  wrong = *lost;
  wrong_code = store::kFenced;
  return false;
}

}  // namespace tutti::deploy
