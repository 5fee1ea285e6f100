#include "deploy/shared/other_systems.h"

#include <fmt/format.h>

#include "deploy/shared/machines.h"
#include "resource/catalog.h"

namespace tutti::deploy {
namespace {

// Commands and processes are known by their component's name: those of another system are others, whatever they are
// called.
bool has_a_name_of_its_own(std::string_view thing) {
  return !thing.starts_with("exec:") && !thing.starts_with("process:");
}

}  // namespace

void OtherSystems::add(const std::string& system, const engine::Recorded& recorded, const Value& state) {
  for (auto& [component, c] : recorded.components) {
    if (c.forgotten) continue;
    Symbol where(machine(c.host, state));
    auto who = static_cast<u32>(all_.size());
    all_.push_back({fmt::format("{}/{}", system, component), Share::of(c)});
    for (auto& held : c.held) holdings_.add(where, resource_of(held), who);
    if (auto r = c.type == "resource" ? resource::resource_of(c.config) : std::nullopt) holdings_.add(where, *r, who);
  }
}

std::optional<resource::Holder> OtherSystems::holder(const std::string& machine, const std::string& thing,
                                                     bool below) const {
  if (!below && !has_a_name_of_its_own(thing)) return std::nullopt;
  auto who = below ? holdings_.below(Symbol(machine), thing) : holdings_.holders(Symbol(machine), thing);
  if (who.empty()) return std::nullopt;
  const One& one = all_[who[0]];
  auto former = one.share.formerly.find(thing);
  return resource::Holder{one.name, former == one.share.formerly.end() ? resource::Former{} : former->second};
}

const Share* OtherSystems::share(const std::string& machine, const std::string& thing) const {
  if (!has_a_name_of_its_own(thing)) return nullptr;
  auto who = holdings_.holders(Symbol(machine), thing);
  return who.empty() ? nullptr : &all_[who[0]].share;
}

}  // namespace tutti::deploy
