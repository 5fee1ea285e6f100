#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/deployment.h"
#include "model/system.h"

// What a plan says of one instance: the record that planner, executor and recorder share. The planner writes it, the
// executor reads what an action needs to know (settings, what is there already, what is left when it goes), and the
// recorder makes of it what is recorded when the run has ended.
//
// It is stored with the plan as an entry of the flat tree's `instances`; both directions are here, in
// planned_instance.cpp, so that a key is spelt once for writing and once for reading, side by side. A `Value` that is
// null means that the plan says nothing of the kind.
namespace tutti::engine {

// What an instance uses, and which instance of the plan answers.
struct PlannedNeed {
  Symbol port;                  // its own name for it
  Symbol provider, provide;     // the component and its port
  bool hold = true;             // as long as it is up; otherwise only when it starts
  u32 instance = model::kNone;  // of the plan; kNone: the provider is not in it
};

struct PlannedInstance {
  std::string name;       // in programs: "db", and "db#2" of the one that comes in its place
  std::string component;  // the name that the configuration gives it
  std::string type;       // the engine's type, made for its needs
  std::string kind;       // the component type, as the configuration calls it; "resource" in a catalog
  Symbol host;
  bool present = false;    // there when the run begins
  bool stays = true;       // there when it ends
  u32 generation = 1;      // the how manieth in its component's place
  bool protect = false;    // never removed or replaced by a plan
  bool half_made = false;  // an earlier run failed with it after it had begun to act

  std::vector<std::string> former;  // names in programs that it had before it was renamed, the oldest first
  std::vector<Symbol> marking;      // where it stands at the start: names of elements of its type

  Value config;    // the settings that it is to have; of one that goes those that it has
  Value old;       // the settings that it was given last, where it is there already
  Value tried;     // the settings that a failed run was to give it, where they are others than `old`
  Value made;      // `old` with the values that it was made with, where it refers to others
  Value keep;      // things ("file:/etc/motd") that were there before it came: going, it leaves them; a list
  Value formerly;  // thing -> what there was in its place, to be restored when it goes; a map
  Value held;      // the resources that it holds, by which it is seen whether they are as they were left; a list
  Value stray;     // paths of files that a failed action has written and no settings speak of; a list

  std::vector<PlannedNeed> needs;
  std::vector<model::Order> orders;

  bool goes() const { return !stays; }
  // A resource of a catalog, and not a component of a system.
  bool of_catalog() const { return kind == "resource"; }
  // The name that it was made under: `${name}`, and what its processes and the like are found by.
  std::string_view made_as() const { return former.empty() ? std::string_view(name) : std::string_view(former[0]); }
};

Value write_planned(const PlannedInstance& instance, const TreeBuilder& builder);
// Damaged entries are read as far as they make sense; build_system refuses what it cannot do without.
PlannedInstance read_planned(const Value& entry);

}  // namespace tutti::engine
