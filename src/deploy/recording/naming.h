#pragma once

#include <string>
#include <vector>

#include "base/types.h"

// Names in the record. A component may have two instances at the end of a run: the old one, and the one that comes in
// its place. Others refer to them by one name, so it must be clear whose it is.
namespace tutti::deploy {

// In the order in which they may have their component's name.
enum class NameClaim : u8 {
  kIsThere,    // what the configuration asks for, and everything was done for it
  kUntouched,  // it is to go and stands as it stood: others still use it under this name
  kUnderWay,   // what the configuration asks for, but not there yet
  kGoing,      // it is to go, and the run has begun with that
};

struct NamedInstance {
  std::string component, instance;
  bool present = true;  // what is gone needs no name
  NameClaim claim = NameClaim::kIsThere;
};

// A name for each, in the same order. The first to claim a component's name has it; whoever comes later is called
// "component~instance". "" for those that are gone.
std::vector<std::string> names_after(const std::vector<NamedInstance>& instances);

}  // namespace tutti::deploy
