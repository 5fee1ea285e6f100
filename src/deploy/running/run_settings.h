#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "engine/run/runner.h"
#include "resource/executor.h"

// How a run is carried out, as whoever asks for it says: limits, patience, who is told what, and how it is ended.
namespace tutti::deploy {

struct RunEvents {
  std::function<void(double seconds, std::string_view text)> line;  // progress, one line each
  std::function<void(u32 done, u32 total, u32 running, std::string_view last)> progress;
  std::function<void(std::string_view component, resource::Level, std::string_view text)> say;
  std::function<void(std::string_view component)> ended;  // an action of it has come to its end
};

struct RunSettings {
  u32 parallel = 0;                              // actions at once; 0: as many as make sense
  double lease = 30;                             // seconds
  double wait_for_lock = 0;                      // seconds
  bool break_lock = false;                       // resume: take the system from whoever holds it, unless they live
  std::string command;                           // who says it, for the lock
  std::map<std::string, std::string> decisions;  // resume: "component/transition" -> "done" or "repeat"
  RunEvents events;
  resource::ExecutorOptions executor;  // host, locate, managed
  // Gets the function that ends the run early: what runs is let come to its end, or with `now` ended too. The run
  // stays open for `resume`.
  std::function<void(std::function<void(bool now)> stop)> on_stop;
  bool give_up = false;  // resume: start nothing, write down how things are and end the run
  std::function<std::unique_ptr<engine::RunListener>(const model::System&)> listener;  // shows what runs
  // Programs: limits, and who looks at the run when it has come to its end.
  u32 parallel_per_host = 0;
  double grace = 10;  // seconds between asking an action to stop and killing it
  std::function<void(const model::System&, const engine::Runner&, const engine::RunReport&)> ended;

  void tell(std::string_view line) const {
    if (events.line) events.line(0, line);
  }
};

}  // namespace tutti::deploy
