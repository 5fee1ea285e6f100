#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/plan/recorded.h"
#include "resource/provider.h"
#include "resource/scrub.h"

// What a component has to do with the things in the world that its actions came to: whose doing they are decides what
// happens when it goes. What was right before it came is left; what it made is removed; what it put in another's place
// is restored.
namespace tutti::deploy {

struct Share {
  std::set<std::string> before;   // things ("file:/etc/motd") right when it first came to them, never changed since
  std::set<std::string> touched;  // its own doing, or that of its commands

  std::map<std::string, resource::Former> formerly;  // what there was in its place before anybody of ours came

  static Share of(const engine::RecordedComponent& recorded);
  bool is_left(const resource::Resource& r) const;
  bool was_otherwise(const resource::Resource& r) const;  // before anybody of ours came, and becomes so again
};

// The things that a resource writes; none where no provider knows its type.
std::vector<std::string> things_of(const resource::Resource& r);

// A resource of RecordedComponent::held, {type, title, parameters}, to and from its record.
resource::Resource resource_of(const Value& held);
Value held_as_value(const resource::Resource& r, const resource::Scrubber& scrub, const TreeBuilder& builder);

Value as_list(const std::set<std::string>& texts, const TreeBuilder& builder);  // null when there is none
Value as_tree(const std::map<std::string, resource::Former>& formerly, const TreeBuilder& builder);  // the same

// Whether the journal says that an action began to act on a resource: it names them without their secrets.
bool was_acted_on(const std::map<std::string, resource::Former>& acted, const resource::Resource& r,
                  const resource::Scrubber& scrub);

}  // namespace tutti::deploy
