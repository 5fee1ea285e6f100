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
  std::vector<Line> lines;  // in an order in which they can happen
};

// For every stable marking that the initial one leads to (first outcomes), every behaviour that does something there.
std::vector<BehaviourSummary> summarise(const model::ComponentType& type);
std::string summary_text(const model::ComponentType& type);

}  // namespace tutti::engine
