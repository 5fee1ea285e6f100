#include "deploy/recording/forgotten.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::deploy {

std::string note_of(const Forgetting::One& one) {
  return fmt::format("{} ({} on {}, {}) is forgotten{}", one.component, one.type,
                     one.host.empty() ? "this machine" : one.host.text(), one.state,
                     one.held.empty() ? "" : fmt::format("; what it held there: {}", fmt::join(one.held, ", ")));
}

Value state_without(const Forgetting& f, const std::vector<std::string>& hosts, const TreeBuilder& b) {
  engine::Recorded left = engine::read_recorded(f.state);
  for (auto& one : f.components) {
    if (one.users.empty()) {
      left.remove(one.component);
      continue;
    }
    engine::RecordedComponent& shade = left.components.at(one.component);
    shade.forgotten = true;
    shade.held.clear();
    shade.needs.clear();
    shade.orders.clear();
  }
  left.forget_unused_kinds();
  if (left.hosts.is(Kind::kMap)) {
    MapDraft known;
    for (const Entry& e : left.hosts.entries())
      if (std::find(hosts.begin(), hosts.end(), e.key.text()) == hosts.end()) known.set(e.key, e.value);
    left.hosts = known.build(b);
  }
  return engine::write_recorded(left, b);
}

}  // namespace tutti::deploy
