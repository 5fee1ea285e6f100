#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "engine/estimate/estimate.h"
#include "engine/run/runner.h"

namespace tutti::engine {

// Says what a run does while it does it. On a terminal one line that is rewritten: how many actions are done, how far
// along the critical path, what runs and since when. Elsewhere a line for every start and end, for logs.
class Progress : public RunListener {
 public:
  Progress(const model::System& system, std::FILE* to, bool terminal, u32 columns);
  ~Progress() override;

  void started(double now, const ActionRequest& request) override;
  void ended(double now, const ActionResult& result, bool will_retry) override;

  // Expected to be done at this moment of the critical path, 0 to 1; 0 when nothing is known about durations.
  double along() const;

 private:
  void draw(double now);
  void line(const std::string& text);

  const model::System& system_;
  std::FILE* to_;
  bool terminal_;
  u32 columns_;
  std::map<std::pair<u32, u32>, double> running_;
  std::map<std::pair<u32, u32>, double> critical_;  // not ended yet: its share of the total
  double total_ = 0, passed_ = 0, last_drawn_ = -1;
  u32 done_ = 0, failed_ = 0, expected_ = 0;
};

}  // namespace tutti::engine
