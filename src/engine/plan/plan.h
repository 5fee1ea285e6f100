#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/plan_head.h"
#include "engine/plan/planned_instance.h"
#include "engine/plan/rename.h"
#include "model/deployment.h"
#include "model/system.h"

// From the system that is recorded to the one that is wanted: which components to add, remove, connect, disconnect, and
// which behaviours to push on whom, in an order that the ports allow and that interrupts as little as possible. The
// result is an ordinary reconfiguration program: estimated, verified and run like any other.
namespace tutti::engine {

struct PlanChange {
  enum class Kind : u8 {
    kAdd,
    kRemove,
    kReplace,    // a new one beside the old one, then the old one goes
    kChange,     // its configuration, in place
    kRelink,     // what it uses
    kMove,       // to another state
    kRepair,     // it was left half way by a failure, or something it holds is no longer as it was left
    kInterrupt,  // nothing of its own changes: something that it holds is interrupted
    kRename,     // nothing changes but its name
  };
  struct Detail {
    std::string path;  // "config.port"
    Value from, to;    // null where there was or will be none
    bool secret = false;
  };
  Kind kind = Kind::kChange;
  std::string component, type;
  std::string was;  // the name that it had before this plan, where that is another one
  Symbol host;
  std::vector<Detail> details;
  std::vector<std::string> behaviours;  // pushed, in order
  std::vector<std::string> actions;     // of what goes: what will be run, stopped and removed, in order
  bool acts = true;                     // some action does something; otherwise only the record changes
  std::string why;                      // one line
  Pos at;
};

// A component that the plan leaves alone and that refers to what the plan may change.
struct PlanFollower {
  std::string component, reads;  // "web", "db.port"
  bool in_this_call = true;      // in a run that follows by itself; otherwise by the next plan that looks at it
};

struct Plan {
  std::vector<PlanChange> changes;  // in the order of the program
  u32 unchanged = 0;
  Value flat;  // the program with all it needs; see build_system
  std::vector<std::string> notes;
  std::vector<PlanFollower> followers;

  bool empty() const { return changes.empty(); }
};

// To and from the tree that is saved with a plan: what it changes, as it is shown.
std::string_view change_word(PlanChange::Kind kind);
Value write_changes(const Plan& plan, const TreeBuilder& builder);
void read_changes(const Value& tree, Plan& plan);

// Something that a component holds is not as it was left.
struct Deviation {
  std::string resource;  // its type: file, process, ...
  std::string text;      // one line for people
  bool down = false;     // what should run does not
};

// What a component refers to as it is now, where that is no longer what the component was made with.
struct Present {
  Value config;  // as it would be made now; null when it would be the same
  Value reads;   // those of RecordedComponent::reads that differ; null when none does
};

struct PlanOptions {
  std::vector<std::string> only;                        // components to look at; empty: all
  bool restart = false;                                 // also those whose configuration did not change
  std::map<std::string, std::vector<Deviation>> drift;  // components to bring back to what they should be
  std::map<std::string, Present> present;               // components to bring to values that have changed
  Renames renames;                                      // of components, which the record has had done already
};

// Errors (a component that is protected, a state that cannot be reached) are in the diagnostics.
std::optional<Plan> make_plan(Session& session, const model::Deployment& wanted, const Recorded& recorded,
                              const PlanOptions& options = {});

// The engine's system from the flat tree: {types, instances, links, program}. Names are taken as they are and
// everything refers by number, so that a stored plan is read back to the very same program.
struct PlannedSystem {
  model::System system;
  std::vector<PlannedInstance> instances;                             // what the plan says of each of the system's
  std::vector<std::string> component_of;                              // instance -> component
  std::vector<model::Invariant> invariants;                           // `of` are components
  std::map<std::string_view, std::vector<u32>> instances_of() const;  // component -> its instances
  // Per instance: bit t, whether it is known how long transition t takes; those beyond the 64th are not.
  std::vector<u64> timed;
  std::vector<std::string> cannot;  // of each of them why no order of this plan can keep it, "" where one can
};
std::optional<PlannedSystem> build_system(Session& session, const Value& flat);

}  // namespace tutti::engine
