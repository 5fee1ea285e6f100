#pragma once

#include <string>

#include "base/types.h"

namespace tutti::engine {

// Sees to it that no action outlives an engine that was killed. A small process of its own is told of every action
// before it starts and after it ends; when the engine's end of the pipe closes without a word, it kills what the open
// actions started. It finds them by their process group and by the mark in their environment, which children inherit,
// so that neither a shell's children nor a process started a moment ago escapes.
class Guardian {
 public:
  explicit Guardian(std::string run = "");  // how this run's actions are marked; "": a mark of its own
  ~Guardian();  // all actions have ended or been ended: the guardian goes without killing anything
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  // The mark of an action, `TUTTI_ACTION=...`, to be put into its environment.
  std::string mark(u64 action) const;
  void opening(u64 action);
  void started(u64 action, int pid);
  void ended(u64 action);

 private:
  void send(char what, u64 action, u64 pid);
  int pipe_ = -1;
  int pid_ = -1;
  std::string run_;
};

}  // namespace tutti::engine
