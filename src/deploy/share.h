#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "deploy/deployer.h"

namespace tutti::deploy {

// What a component has to do with the things that its actions came to ("file:/etc/motd"), by resource.
struct Share {
  std::set<std::string> before;   // right when it first came to them, never changed since: going, it leaves them
  std::set<std::string> touched;  // its own doing, or that of its commands

  static Share of(const engine::RecordedComponent& recorded);
  bool is_left(const resource::Resource& r) const;
};

resource::Resource resource_of(const Value& held);
Value as_list(const std::set<std::string>& texts, const TreeBuilder& builder);  // null when there is none

// Whether the journal says that an action began to act on a resource: it names them without their secrets.
bool was_acted_on(const std::set<std::string>& acted, const resource::Resource& r, const resource::Scrubber& scrub);

// By instance, after a run. `acted`: on which resources its actions began to act.
std::map<u32, Share> shares_after(const Prepared& prepared, const engine::Recorded& was,
                                  const resource::Knowledge& knowledge, const std::vector<engine::ActionSpan>& actions,
                                  const Acted& acted, const resource::Scrubber& scrub);

}  // namespace tutti::deploy
