#pragma once

#include <map>
#include <set>
#include <string>

#include "model/component.h"
#include "resource/provider.h"

// Which resources an instance holds after a run: those that it is looked at by (drift), and that go with it. The last
// word on each resource counts. Told of the actions that ended well, one after the other.
namespace tutti::deploy {

using HeldResources = std::map<std::string, Value>;  // by resource::key_of -> {type, title, parameters}

class Holding {
 public:
  // `recorded`: what it held when the run began, where it stood at `began`.
  void start(HeldResources recorded, const model::ComponentType& type, const model::Marking& began);

  // An action of it came to its end. Coming up anew, which begins with a transition that leaves the initial place, it
  // holds nothing any more of what its way down was about. (What goes on half way does not come anew, and of several
  // transitions that leave the place together only the first begins it.)
  void ended(const model::ComponentType& type, u32 transition);

  // The action was about this resource. Holds it, lets it go, or neither: for what leaves nothing that could be looked
  // at (waits, commands without a check). `as_recorded`: the resource as it is stored.
  void about(const resource::Resource& r, const Value& as_recorded);

  // Takes what commands that were not run in this life are looked at by from their type as it is now (`meant`: key ->
  // parameters), because a check belongs to what was asked for then. Those that the type no longer knows, or whose
  // check is the same as that of one that was run, are dropped.
  void renew_checks(const std::map<std::string, Value>& meant, const TreeBuilder& builder);

  bool came_anew() const { return came_anew_; }
  const HeldResources& all() const { return all_; }

 private:
  bool was_asked(const Value& parameters) const;
  HeldResources all_;
  std::set<std::string> done_;  // keys brought about in this run
  std::set<u32> begun_;         // transitions that left the initial place since it last came up
  bool came_anew_ = false;
};

// Whether a command can be looked at without running it.
bool has_check(const resource::Resource& r);

}  // namespace tutti::deploy
