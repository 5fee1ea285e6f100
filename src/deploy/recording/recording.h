#pragma once

#include <map>
#include <string>
#include <vector>

#include "deploy/shared/other_systems.h"
#include "deploy/shared/prepared.h"
#include "engine/run/runner.h"
#include "resource/scrub.h"

// The third of the three rooms: how a run ended becomes the state that the next plan starts from. Pure: no store, no
// process, no file, no clock; the same end gives the same state, whether it is computed when the run ends, when it is
// taken up again, or for `tutti show` while it goes on.
//
// In three stages, a file each:
//   evidence.cpp  what the run came to, gathered for each instance into an EndedInstance: facts, no decisions
//   naming.cpp    which of several instances of a component has its name from now on
//   rules.cpp     a table: each rule writes one part of what is recorded of an instance, by the facts alone
// and beside them what the rules are made of: markings.h (where it stands), holding.h (which resources it holds),
// shares.h (whose doing the things in the world are).
namespace tutti::deploy {

// How a run ended. `end` is the rules' own account of who stands where: for a run that was cut off it is made by going
// through the journal again (running/replay.h), so nothing here depends on the process that ran the plan.
struct EndedRun {
  const Prepared& prepared;
  const engine::Scheduler& end;
  const std::vector<engine::ActionSpan>& actions;  // those that were run, in the order of their ends
  const std::map<u32, std::string>& failed;        // instance -> the transition that failed, or whose result is unknown
  const Acted& acted;                              // the resources that were touched, also by actions that failed
  const resource::Knowledge& knowledge;            // what actions gave to whoever refers to it
  const resource::Scrubber& scrub;                 // the secrets of the plan
  const OtherSystems& others;
};

// The state as it is stored, in `arena`.
Value next_state(const EndedRun& run, Arena& arena);

}  // namespace tutti::deploy
