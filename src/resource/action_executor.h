#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/run/executor.h"
#include "resource/provider.h"

namespace tutti::resource {

// What an action did, beside how it ended.
struct Effect {
  std::vector<Change> changes;
  bool looked_only = false;             // all was as wanted
  double seconds = 0;                   // that it took, without waiting for its turn; of the last attempt
  std::map<std::string, Former> acted;  // resources on which it began to act on the host, by `key_of`
};

// An executor of actions that can be looked at: whether one that was cut off is done is seen by what it was to bring
// about. The interface that deployment runs plans by; ResourceExecutor (executor.h) is the one that acts on hosts.
class ActionExecutor : public engine::Executor {
 public:
  virtual Effect effect(u32 instance, u32 transition) const = 0;

  // Looks whether what an action was to bring about when its run was cut off is there, without touching anything.
  // `begun`: it had begun to act. `outputs` gets what its checks give, when it is there.
  enum class Found : u8 { kDone, kNotDone, kUnknown, kFailed };
  // `why` it cannot be seen, with the failure's code.
  virtual Found probe(u32 instance, u32 transition, bool begun, Failure& why, engine::Outputs& outputs) = 0;
  // Takes away what an action that was cut off had begun to write beside files.
  virtual void clear_unfinished(u32 instance, u32 transition) = 0;
  // The user says that it is done.
  virtual engine::Outputs taken_as_done(u32 instance, u32 transition) = 0;
};

}  // namespace tutti::resource
