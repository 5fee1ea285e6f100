#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "deploy/deployer.h"

namespace tutti::deploy {

class Elsewhere;

// What a component has to do with the things that its actions came to ("file:/etc/motd"), by resource.
struct Share {
  std::set<std::string> before;   // right when it first came to them, never changed since: going, it leaves them
  std::set<std::string> touched;  // its own doing, or that of its commands

  std::map<std::string, resource::Former> formerly;  // what there was in its place before anybody of ours came

  static Share of(const engine::RecordedComponent& recorded);
  bool is_left(const resource::Resource& r) const;
  bool was_otherwise(const resource::Resource& r) const;  // before anybody of ours came, and becomes so again
};

resource::Resource resource_of(const Value& held);
Value as_list(const std::set<std::string>& texts, const TreeBuilder& builder);  // null when there is none
Value as_tree(const std::map<std::string, resource::Former>& formerly, const TreeBuilder& builder);  // the same

// Whether the journal says that an action began to act on a resource: it names them without their secrets.
bool was_acted_on(const std::map<std::string, resource::Former>& acted, const resource::Resource& r,
                  const resource::Scrubber& scrub);

// By instance, after a run. `acted`: on which resources its actions began to act.
std::map<u32, Share> shares_after(const Prepared& prepared, const engine::Recorded& was,
                                  const resource::Knowledge& knowledge, const std::vector<engine::ActionSpan>& actions,
                                  const Acted& acted, const resource::Scrubber& scrub, const Elsewhere& others);

}  // namespace tutti::deploy
