#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "resource/executor.h"
#include "store/store.h"
#include "transport/fenced.h"

// The hosts of a run as they let it act: only while the run holds its system. What flows in are the lease and the
// hosts, what flows out are the same hosts behind a fence. A run that takes another one over tells the hosts first
// (`raise`), so that nothing of the old one begins there any more; then it ends what the old one had begun.
namespace tutti::deploy {

class Fencing {
 public:
  // `scope`: the system's name on all hosts, unlike any other's.
  Fencing(store::Store& store, const store::Lease& lease, const resource::ExecutorOptions& options, std::string scope);

  Host* host(Symbol name);
  // Nobody with an older lease acts there from now on. What a host cannot be told is said by the failure.
  Result<void> raise(Symbol name);
  Result<void> may_act() { return store_.holds(lease_); }

 private:
  Fence fence_of(const Host& host) const;

  store::Store& store_;
  store::Lease lease_;
  std::function<Host*(Symbol)> find_;
  std::string remote_home_, scope_;
  std::mutex mutex_;
  std::map<Host*, std::unique_ptr<FencedHost>> fenced_;
};

}  // namespace tutti::deploy
