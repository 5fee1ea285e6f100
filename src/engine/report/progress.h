#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "engine/estimate/estimate.h"
#include "engine/run/runner.h"

namespace tutti::engine {

// Where progress is shown.
class Display {
 public:
  virtual ~Display() = default;
  virtual void line(const std::string& text) = 0;    // one more line, which stays
  virtual void status(const std::string& text) = 0;  // the last line, in place of what it was; "" takes it away
};

// Says what a run does while it does it. On a terminal one line that is rewritten: how many actions are done, how far
// along the critical path, what runs and since when, who waits for what. Elsewhere a line for every start and end, for
// logs.
class Progress : public RunListener {
 public:
  struct Manner {
    bool live = false;  // a terminal
    u32 columns = 100;
    bool lines = true;  // say what starts, ends and fails; otherwise somebody else does
  };
  Progress(const model::System& system, Display& to, const Manner& manner);
  ~Progress() override;

  void started(double now, const ActionRequest& request) override;
  void ended(double now, const ActionResult& result, bool will_retry) override;
  void idle(double now, const Scheduler& scheduler) override;

  // Expected to be done at this moment of the critical path, 0 to 1; 0 when nothing is known about durations.
  double along(double now) const;

 private:
  void draw(double now);
  void tick();

  const model::System& system_;
  Display& to_;
  Manner manner_;
  std::map<std::pair<u32, u32>, double> running_;
  std::map<std::pair<u32, u32>, double> critical_;  // not ended yet: its share of the total
  double total_ = 0, passed_ = 0, last_drawn_ = -1, last_asked_ = -1;
  u32 done_ = 0, failed_ = 0, expected_ = 0;
  std::string waits_;  // who waits for what
  double heard_ = 0;   // when the run was last heard of, on its clock, and on ours
  std::chrono::steady_clock::time_point heard_at_{};
  std::mutex mutex_;
  std::condition_variable stop_;
  bool over_ = false;
  std::thread clock_;  // time passes while nothing happens
};

// A line that an action printed as it may be shown: nothing in it moves the cursor or changes the terminal.
std::string printable(std::string_view text);

}  // namespace tutti::engine
