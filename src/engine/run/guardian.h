#pragma once

#include <string>

#include "base/types.h"

namespace tutti::engine {

// Sees to it that no action outlives an engine that was killed. A small process of its own is told of every action
// before it starts and after it ends; when the engine's end of the pipe closes without a word, it kills what the open
// actions started. It finds them by their process group and by the mark in their environment, which children inherit,
// so that neither a shell's children nor a process started a moment ago escapes. What is to stay has no such mark, or
// that of an action which has ended.
class Guardian {
 public:
  explicit Guardian(std::string run = "");  // how this run's actions are marked; "": a mark of its own
  ~Guardian();  // all actions have ended or been ended: the guardian goes without killing anything
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  // The mark of an action, to be put into its environment as TUTTI_ACTION.
  std::string mark(u32 instance, u32 transition) const;
  void opening(u32 instance, u32 transition);
  void started(u32 instance, u32 transition, int pid);
  void ended(u32 instance, u32 transition);

 private:
  void send(char what, u32 instance, u32 transition, int pid);
  int pipe_ = -1;
  int pid_ = -1;
  std::string run_;
};

}  // namespace tutti::engine
