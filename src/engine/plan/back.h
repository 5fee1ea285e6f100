#pragma once

#include <string>
#include <vector>

#include "engine/run/scheduler.h"

namespace tutti::engine {

// A program that brings back the assembly with which a run began: the places its instances were in and its links. It is
// made only of behaviours that the components offer, nothing is reversed blindly; it is verified before it is given
// out, and run and estimated like any other.
struct WayBack {
  bool found = false;
  std::vector<std::string> program;  // lines of the text form
  std::vector<std::string> why_not;  // when there is none
};
WayBack way_back(const model::System& system, const Scheduler& now);

}  // namespace tutti::engine
