#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/boundary.h"

namespace tutti {

// The boundary of a call of the command line: made before anything is read, and told by each command line (the verbs',
// cue's, puppet's) what the user named. Out: base/boundary.h, which every file is opened through.
//
// Verbs that only read need a record of trust (tutti trust) or --trust for code of the project. Who asks for a run
// (apply, plan, ...) asks for what the configuration does, commands included, so a folder of the user's own that
// nobody else may write into needs no record there; one of another user always does.
class CallBoundary {
 public:
  explicit CallBoundary(std::span<const std::string> args);

 private:
  Boundary boundary_;
  Boundary::InForce in_force_;
};

// Whether the call's verb looks at hosts or changes them. (cue's front end tells of its own.)
bool asks_to_run(std::string_view verb);

}  // namespace tutti
