#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/read.h"
#include "model/system.h"
#include "tree/session.h"

namespace tutti::deploy {

// A reconfiguration program that is run as it is written, where others are planned: what is needed to run it, and to
// take it up again when it was cut off.
struct Program {
  std::string system;           // under which name it is remembered
  Value tree;                   // types, assembly, programs, ...
  std::string text, text_name;  // the program in its text form and the file it was in; "": it is in the tree
  std::string entry;            // which of the tree's `programs`
  std::map<std::string, i64> parameters;
  bool keep_going = false;  // past instances that failed
  model::System model;      // what all that gives

  // To and from the tree that is stored. What was stored is read as it was the first time, so that every number in the
  // journal means the same.
  Value stored(const TreeBuilder& builder) const;
  static std::optional<Program> restored(Session& session, const Value& stored);
};

}  // namespace tutti::deploy
