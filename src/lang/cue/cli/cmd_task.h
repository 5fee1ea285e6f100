#pragma once

#include <set>
#include <string>
#include <vector>

#include "lang/cue/cli/program.h"
#include "lang/cue/cli/tasks.h"

namespace tutti::cue {

struct CommandTask {
  std::vector<Label> path;  // from the top
  Vertex* value = nullptr;
  std::string kind;
  std::set<std::string> needs;
  std::string name() const {
    std::string s;
    for (Label l : path) s += (s.empty() ? "" : ".") + l.text();
    return s;
  }
};

// What a task is given, taken from its value; what is wrong with it is added to `problems`.
TaskInput task_input(Context& c, const CommandTask& t, std::vector<LoadProblem>& problems);

}  // namespace tutti::cue
