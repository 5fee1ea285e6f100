#pragma once

#include <string>
#include <vector>

#include "model/component.h"

namespace tutti::engine {

// What a behaviour does to the ports, read off the net: all that somebody who writes programs needs to know of a type.
struct BehaviourSummary {
  u32 behaviour = 0;
  std::vector<u32> from, to;  // places, before and after
  struct Line {
    enum class Kind : u8 { kTakes, kReleases, kProvides, kWithdraws } kind;
    u32 port = 0;
    u32 place = 0;  // entered or left
    u32 after = 0;  // how many transitions at least come before
  };
  std::vector<Line> lines;                    // in an order in which they can happen
  std::vector<std::pair<u32, u32>> switches;  // those that are met, with the outcome that this is about
  u32 stuck = model::kNone;                   // a place that waits for what ends elsewhere
};

// For every stable marking that the initial one leads to, every behaviour that does something there, for every way its
// switches can end.
std::vector<BehaviourSummary> summarise(const model::ComponentType& type);
std::string summary_text(const model::ComponentType& type);

}  // namespace tutti::engine
