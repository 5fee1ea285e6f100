#include "deploy/running/fencing.h"

namespace tutti::deploy {

Fencing::Fencing(store::Store& store, const store::Lease& lease, const resource::ExecutorOptions& options,
                 std::string scope)
    : store_(store), lease_(lease), find_(options.host), remote_home_(options.remote_home), scope_(std::move(scope)) {}

Fence Fencing::fence_of(const Host& host) const {
  return {(host.directory.empty() ? remote_home_ : host.directory) + "/fence/" + scope_, lease_.fence};
}

Host* Fencing::host(Symbol name) {
  Host* behind = find_ ? find_(name) : nullptr;
  if (!behind) return nullptr;
  std::lock_guard lock(mutex_);
  auto& one = fenced_[behind];
  if (!one) {
    one = std::make_unique<FencedHost>(*behind, [this] { return may_act(); });
    behind->set_fence(fence_of(*behind));
  }
  return one.get();
}

Result<void> Fencing::raise(Symbol name) {
  Host* behind = find_ ? find_(name) : nullptr;
  return behind ? behind->raise(fence_of(*behind)) : Result<void>();
}

}  // namespace tutti::deploy
