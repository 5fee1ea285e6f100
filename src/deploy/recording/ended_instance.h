#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "deploy/recording/holding.h"
#include "deploy/shared/share.h"
#include "engine/plan/planned_instance.h"
#include "engine/plan/recorded.h"

// What a run came to for one instance: all that the rules (rules.h) look at. Plain facts, so that a test writes down
// the case it is about and nothing else.
namespace tutti::deploy {

struct EndedInstance {
  const engine::PlannedInstance* planned = nullptr;  // what the plan said of it
  const model::ComponentType* type = nullptr;
  const engine::RecordedComponent* old = nullptr;  // as it was recorded before; nullptr: it is new
  std::string name;                                // in the record, see naming.h

  model::Marking began, stands;  // where it stood when the run began, and where it stands now
  Symbol goal;                   // the place where its kind is up

  std::string failed;     // the transition that failed in this run, or whose result nobody knows; "" for none
  bool acted = false;     // an action of it was run, whatever came of it
  bool touched = false;   // an action of it began to change something on a host
  bool ended = false;     // an action of it that does something came to its end
  bool complete = false;  // everything that the plan had for it was done, and well

  Holding holding;                             // the resources that it holds
  std::map<std::string, Value> meant_checks;   // of its commands, as its type says now: key -> parameters
  std::set<std::string> written;               // files that its actions wrote, where it did not come to its end
  Share share;                                 // whose doing the things are that it is about
  std::map<std::string, Value> reads;          // what its actions took from others: path -> value
  std::map<std::string, std::string> outputs;  // what its actions gave
  std::set<std::string> secret;                // which of these nobody may see
  std::vector<model::Need> uses;               // links that it has now
  std::vector<model::Need> used;               // those that it was recorded with, whose provider is still there

  // A configuration with the values of those it refers to; null where something has no value.
  std::function<Value(const Value& config)> settled = [](const Value&) { return Value::null(); };
};

}  // namespace tutti::deploy
