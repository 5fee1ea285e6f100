#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plan/plan.h"
#include "resource/action.h"
#include "resource/catalog.h"

// A plan with all that goes with it, as it is shown, saved and run: what planning gives, and what running and recording
// are given. Data only; each room adds what it does with it.
namespace tutti::deploy {

inline constexpr std::string_view kApplyRun = "apply";
inline constexpr std::string_view kDestroyRun = "destroy";
inline constexpr std::string_view kRollbackRun = "rollback";
inline constexpr std::string_view kFollowRun = "follow";    // brings others to values of the run before
inline constexpr std::string_view kProgramRun = "program";  // that was not planned
inline constexpr std::string_view kLookRun = "noop";        // of a catalog that was only compared with what is there
inline constexpr std::string_view kForgetRun = "forget";    // only takes something out of the record

struct Prepared {
  std::string system, kind;  // kind: one of those above
  i64 serial = 0;            // of the state it was made against
  std::string lineage;       // of the system: another one where the record was made anew
  engine::Plan plan;
  Value wanted;  // the tree it was made from
  Value state;   // the recorded state
  engine::PlannedSystem program;
  std::string digest;    // of what it will do
  bool catalog = false;  // a Puppet catalog
  bool saved = false;    // read from a file, where nothing says in which configuration things were written
  std::vector<resource::Conflict> conflicts;
  std::vector<std::string> managed;  // paths of its files
  std::size_t resources = 0;
  std::vector<std::string> renewed;  // components that are brought to values of others that have changed

  // Nothing to do and nothing to write down.
  bool empty() const;
  // Hosts are to be reached in another way than is recorded.
  bool hosts_differ() const;
};

// A catalog with --noop: nothing of it acts, and what an earlier run left is still what is there.
bool only_looks(const engine::PlannedSystem& plan);

// The map `hosts` of a state or of a plan's flat tree; null where there is none.
Value hosts_of(const Value& tree);

// Which recorded component each instance of a plan is, by the instance's number: nullptr for those that are to come.
std::vector<const engine::RecordedComponent*> recorded_of(const engine::PlannedSystem& plan,
                                                          const engine::Recorded& was);

// Tells `knowledge` what is recorded of the instances of a plan, for whoever refers to it. `home`: the record's
// directory, which `${home}` stands for.
void teach(resource::Knowledge& knowledge, const Prepared& prepared, const engine::Recorded& was,
           const std::string& home);

// The resources on which the actions of a run began to act: (instance, transition) -> their keys, and what there was
// before.
using Acted = std::map<std::pair<u32, u32>, std::map<std::string, resource::Former>>;

}  // namespace tutti::deploy
