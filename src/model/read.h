#pragma once

#include <map>
#include <optional>
#include <string>

#include "model/system.h"
#include "tree/session.h"

namespace tutti::model {

struct ReadOptions {
  std::map<std::string, i64> parameters;  // n, m, ... of a program's loops; they win over the tree's `parameters`
  std::string program;                    // which of several named programs; "" is the one called `program`
  const Source* text = nullptr;           // a program in its text form, in place of the tree's
};

// A system from a tree {types, assembly: {instances, links}, program, durations}, from any language: schema/ says what
// may be in it. Every error is reported at the user's own line; nullopt when there was one.
std::optional<System> read_system(Session& session, const Value& root, const ReadOptions& options = {});

// Only the types of a tree {types: {...}} or {...}.
std::vector<std::shared_ptr<ComponentType>> read_types(Session& session, const Value& types);

// A duration: a number, {mean, sd}, {min, max}, {exponential}; or text such as "150ms", "2s", "5m".
std::optional<Duration> read_duration(Session& session, const Value& value);

}  // namespace tutti::model
