#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <queue>
#include <unordered_map>

#include "engine/run/executor.h"
#include "engine/run/guardian.h"

namespace tutti::engine {

// Runs actions as processes of this machine, in one thread: no polling, no thread per action. Processes are watched
// through pidfds, so no signal handler is needed and no other child of the program is disturbed.
//
// An action is a map:
//   run     a shell command, or a list of words executed as they are
//   env     variables to add           cwd    directory           stdin   text
//   sleep   seconds, instead of `run`: only time passes
//   check   a shell command that succeeds when it is done: asked before an action that a dead run had begun is repeated
// Every action gets TUTTI_INSTANCE, TUTTI_TYPE, TUTTI_TRANSITION, TUTTI_ATTEMPT, the instance's parameters and outputs
// under their own names, and the data of each used port as PORT_KEY. It says something by appending KEY=VALUE lines to
// the file $TUTTI_OUTPUT; the key `outcome` names the destination of a switch.
class ProcessExecutor : public Executor {
 public:
  struct Options {
    double grace = 10;                 // seconds between SIGTERM and SIGKILL
    u32 most_processes = 0;            // at once; 0: as many as open files allow
    bool guard = true;                 // nothing outlives us, even when we are killed
    std::size_t log_bytes = 16 << 10;  // of what an action printed, from the end
    std::string run;                   // marks what is started; "": a mark of its own
    // Asked before each process is made; "": it may be. What else it says is why the action is cancelled.
    std::function<std::string()> why_not;
    // What an action printed, without what nobody may see.
    std::function<std::string(std::string_view)> clean;
  };
  ProcessExecutor();
  explicit ProcessExecutor(const Options& options);
  ~ProcessExecutor() override;

  double now() const override;
  void start(const ActionRequest& request) override;
  void cancel(u32 instance, u32 transition) override;
  void wait(std::vector<ActionResult>& results, double until) override;
  void stop_all() override;

  void wake() override;  // safe in a signal handler, too

 private:
  struct Job;
  void launch(Job& job);
  void finish(Job& job, ActionResult&& result);
  void collect_exit(Job& job);
  void set_alarm(Job& job, double at);
  void alarm(u64 id);
  void start_queued();
  void read_outputs(Job& job, ActionResult& result) const;

  struct Alarm {
    double at;
    u64 job;
    bool operator<(const Alarm& o) const { return at > o.at; }
  };
  Options options_;
  std::unique_ptr<Guardian> guardian_;
  int epoll_ = -1, event_ = -1;
  double began_ = 0;
  u64 next_ = 1;
  u32 processes_ = 0, room_ = 0;
  std::unordered_map<u64, std::unique_ptr<Job>> jobs_;  // by number
  std::unordered_map<u64, u64> by_action_;              // (instance, transition) -> number
  std::priority_queue<Alarm> alarms_;
  std::vector<u64> queue_;  // no room yet, in order
  std::size_t queue_at_ = 0;
  std::vector<ActionResult> done_;
  bool stopped_ = false;                  // nothing begins any more
  std::vector<std::string> environment_;  // ours
};

}  // namespace tutti::engine
