#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <vector>

#include "engine/run/guardian.h"
#include "resource/action.h"
#include "resource/action_executor.h"
#include "resource/holdings.h"

namespace tutti::resource {

// A component of another system.
struct Holder {
  std::string name;  // "shop/db"
  Former former;     // what there was before it came
};

struct ExecutorOptions {
  u32 workers = 0;   // actions on this machine at once, see below; 0: as many as make sense
  u32 parallel = 0;  // actions at once everywhere, as the user says; 0: nobody said
  std::string home;  // tutti's own directory here
  std::string remote_home = "/var/lib/tutti";
  std::string scope;                       // of names of processes: theirs is no other system's, of no other project
  std::string run;                         // marks what it starts, so that it is found again after a crash
  std::function<Host*(Symbol host)> host;  // nullptr: unknown
  std::function<void(u32 instance, Level, std::string_view)> say;            // from any thread
  std::function<std::optional<std::string>(const std::string& url)> locate;  // puppet:///...: a path on this machine
  std::function<bool(const std::string&)> managed;
  Sealing sealing;  // empty: nothing is sealed
  // Takes the system's secrets out of what an action has to say: those that were put into the text of a command, too.
  std::function<std::string(std::string_view)> clean;
  // Told before an action first acts on a resource, from its thread: what was only being looked at when a run was cut
  // off has not been changed. False: it cannot be written down, so nothing is done.
  std::function<bool(u32 instance, u32 transition, const std::string& resource, const Former& former)> begins;
  // Who of another system has a thing ("file:/etc/motd"), or with `below` something in a directory, on the host of an
  // instance.
  std::function<std::optional<Holder>(u32 instance, const std::string& thing, bool below)> elsewhere;
  // What was found out about a resource of a catalog when it was last looked at.
  std::function<std::map<std::string, std::string>(u32 instance)> recall;
};

// As many as are wanted (0: as make sense here), and as there are descriptors for.
u32 workers(u32 wanted);
// So many actions may be started for so many workers: nobody who is free waits until the next is written down.
inline u32 started_for(u32 workers) { return 4 * workers; }

inline constexpr std::string_view kNotWritten = "the journal cannot be written, so nothing was done";

// Actions on other hosts under way at once. They wait for the network and cost this machine a thread and an ssh each.
inline constexpr u32 kMostRemote = 256;

// Runs actions by bringing about resources, in worker threads: some for this machine, and as many as are needed for
// other hosts, so that nobody here waits for somebody there. A host gets a share of its own (`most_on`): one action
// until it has answered for the first time, then as many as its connection takes. So a host that hangs or is gone holds
// up its own actions and nobody else's. What an action does on a host is the providers'
// business; what happens when is the engine's.
class ResourceExecutor : public ActionExecutor {
 public:
  ResourceExecutor(const engine::PlannedSystem& plan, Knowledge& knowledge, ExecutorOptions options);
  ~ResourceExecutor() override;

  double now() const override;
  void start(const engine::ActionRequest& request) override;
  u32 most_on(Symbol host) const override;
  void cancel(u32 instance, u32 transition) override;
  void wait(std::vector<engine::ActionResult>& results, double until) override;
  void stop_all() override;

  void wake() override;

  Effect effect(u32 instance, u32 transition) const override;
  Found probe(u32 instance, u32 transition, bool begun, Failure& why, engine::Outputs& outputs) override;
  void clear_unfinished(u32 instance, u32 transition) override;
  engine::Outputs taken_as_done(u32 instance, u32 transition) override;

 private:
  class ComponentAction;  // how the action of a component is performed (component_action.cpp)
  class CatalogAction;    // and that of a resource of a catalog (catalog_action.cpp)
  struct Job {
    engine::ActionRequest request;
    double started = 0;
    bool timed_out = false;
    Cancel cancel;
  };
  // Threads that take jobs from a queue; made when there are more jobs than idle ones.
  struct Crew {
    u32 most = 0, idle = 0, members = 0;
    std::deque<std::shared_ptr<Job>> queue;
    std::condition_variable todo;
  };
  Host* host_of(u32 instance) const {
    return options_.host ? options_.host(system_.instances[instance].host) : nullptr;
  }
  void work(Crew& crew);
  void reach(Host& host, const Cancel& cancel);
  void never_began(const Job& job);  // with `mutex_` held
  engine::ActionResult perform(Job& job, Effect& effect);
  engine::ActionResult perform_catalog(Job& job, Effect& effect);
  bool begins(const Job& job, Effect& effect, const Resource& r, const Former& former) const;
  // What goes for good, with what that means: a file becomes again what it was before its component came (`former`),
  // and the log of a process on another host goes, too (`log_goes`). Anything else as it is.
  Resource for_good(u32 instance, const Resource& r, Arena& arena) const;
  // The resource as its component left it, of one that is to go.
  std::optional<Resource> held_as(u32 instance, const Resource& removed) const;
  // Whether what its component left is still so.
  bool is_as_left(Host& host, u32 instance, const Resource& removed) const;
  // Whether a resource that is to go was there before its component came to it, and is left.
  bool is_left(u32 instance, const Resource& removed) const;
  bool first_after(u32 failed, u32 instance) const;
  void for_needs(u32 instance, const std::function<void(u32)>& found) const;  // whose failures it minds
  bool is_container(u32 instance) const;
  std::vector<std::string> failures_to_tell(u32 instance) const;
  // The component that is going to have what a resource of another, which goes, would take away; "": none.
  std::string heir(u32 instance, const Resource& removed) const;
  std::optional<Holder> held_elsewhere(u32 instance, const Resource& r) const;
  // What its host is in fact: this machine may go by other names, too.
  std::string_view machine_of(u32 instance) const;
  // Puts what a component holds among the others'; false when that depends on what others give.
  bool add_held(u32 instance, Holdings& holdings) const;
  void renew_holdings() const;  // with `holdings_mutex_` held
  // Whether anybody who stays holds a thing, or one below a directory, on the host of an instance.
  bool is_held(u32 instance, const std::string& name, bool below) const;
  Context context(const Resource& r, Host& host, u32 instance, const Cancel* cancel, const std::string& mark) const;
  std::string home_on(Symbol host) const { return host.empty() ? options_.home : options_.remote_home; }

  const model::System& system_;
  const std::vector<engine::PlannedInstance>& planned_;  // what the plan says of its instances
  Knowledge& knowledge_;
  ExecutorOptions options_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  std::condition_variable done_;
  Crew here_, elsewhere_;
  std::map<std::pair<u32, u32>, std::shared_ptr<Job>> running_;
  std::vector<engine::ActionResult> results_;
  std::map<std::pair<u32, u32>, Effect> effects_;
  std::unique_ptr<engine::Guardian> guardian_;  // from the first action on
  std::vector<std::thread> threads_;
  std::set<std::pair<u32, u32>> cut_off_;  // of a catalog: had begun in the run that is taken up again
  std::set<Symbol> hosts_;                 // how many the system has
  bool closing_ = false, woken_ = false;
  bool stopped_ = false;  // nothing begins any more
  // Who is going to have what: known once, and as it is while others have given no more than they had.
  mutable std::mutex holdings_mutex_;
  mutable std::optional<u64> holdings_version_;
  mutable Holdings holdings_, open_holdings_;
  mutable std::set<u32> open_holders_;
};

// Ends everything that these actions of a run that was cut off, (instance, transition), have started and that still
// goes on. Returns how many there were. What actions that came to their end have left running is meant to stay.
u32 end_leftovers(Host& host, const std::string& run, const std::vector<std::pair<u32, u32>>& actions);

}  // namespace tutti::resource
