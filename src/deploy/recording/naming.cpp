#include "deploy/recording/naming.h"

#include <fmt/format.h>

#include <set>

namespace tutti::deploy {

std::vector<std::string> names_after(const std::vector<NamedInstance>& instances) {
  std::vector<std::string> names(instances.size());
  std::set<std::string> taken;
  for (NameClaim rank : {NameClaim::kIsThere, NameClaim::kUntouched, NameClaim::kUnderWay, NameClaim::kGoing})
    for (std::size_t i = 0; i < instances.size(); ++i) {
      const NamedInstance& one = instances[i];
      if (!one.present || one.claim != rank) continue;
      names[i] = taken.count(one.component) ? fmt::format("{}~{}", one.component, one.instance) : one.component;
      taken.insert(names[i]);
    }
  return names;
}

}  // namespace tutti::deploy
