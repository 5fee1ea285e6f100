#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "deploy/running/clock.h"
#include "deploy/shared/prepared.h"
#include "engine/run/journal.h"
#include "model/system.h"
#include "resource/provider.h"
#include "resource/scrub.h"
#include "store/seal.h"
#include "store/store.h"

namespace tutti::deploy {

// A run's journal in the store. The intent of every action that touches the world is on disk before the action starts;
// what became possible together goes down together, in one commit. Actions that do nothing are written along with the
// next ones that do: they need no commit of their own, but their place in the order counts when the run is taken up
// again.
class StoreJournal : public engine::Journal {
 public:
  // What is said of an action and must stay secret: outputs that hold one are sealed, texts are scrubbed of them.
  struct Secrets {
    const store::Seal& seal;
    const resource::Scrubber& scrub;
  };
  using Changes = std::function<std::vector<resource::Change>(u32 instance, u32 transition)>;

  StoreJournal(store::Store& store, const store::Lease& lease, i64 run, const model::System& system,
               const Secrets& secrets, Changes changes = {}, const Clock& clock = real_clock())
      : store_(store),
        lease_(lease),
        run_(run),
        system_(system),
        secrets_(secrets),
        changes_(std::move(changes)),
        clock_(clock) {}

  void step(double, const engine::Step&) override {}
  bool starting(double time, std::span<const engine::ActionRequest> requests) override;
  void ended(double time, std::span<const engine::ActionResult> results) override;
  void settle() override;

  // An action begins to act on a resource: from its thread. Those that come together are written together.
  bool begins(u32 instance, u32 transition, const std::string& resource, const resource::Former& former);

  // What actions on a host have done outlasts a loss of power: asked before their ends are written.
  std::function<Result<void>(Symbol host)> flush;
  // The run must end when it cannot be written down any more: called with the reason, from any thread.
  std::function<void(const Failure&)> on_broken;
  bool broken() const { return broken_; }

 private:
  void broke(const Failure& why);
  std::string name(u32 instance, u32 transition) const;

  store::Store& store_;
  store::Lease lease_;
  i64 run_;
  const model::System& system_;
  Secrets secrets_;
  Changes changes_;
  const Clock& clock_;
  std::vector<store::Entry> waiting_;
  bool acts_ = false;  // something among them touched the world
  std::atomic<bool> broken_ = false;
  // of begins()
  std::mutex mutex_;
  std::condition_variable written_;
  std::vector<store::Entry> beginning_;
  u64 asked_ = 0, on_disk_ = 0;
  bool writing_ = false;
};

// What a journal says of a run: the results in order, and what was started and has no result.
struct Replay {
  engine::JournalRecord record;
  std::vector<store::Entry> entries;
  std::set<u32> touched;                // instances whose actions changed something
  std::set<std::pair<u32, u32>> begun;  // of those without a result: had begun to act
  Acted acted;                          // by those with a result, too
  std::string wrong;                    // "" or why it is not this program's journal
};
Replay read_journal(const model::System& system, std::vector<store::Entry> entries, const store::Seal& seal);

// Outputs by name; the last word on each counts.
std::map<std::string, std::string> outputs_map(const engine::Outputs& outputs);

std::string changes_json(const std::vector<resource::Change>& changes);

}  // namespace tutti::deploy
