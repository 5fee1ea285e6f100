#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tutti {

// Tells on standard error, where that is a terminal, that something takes longer than a second, and since when. The
// line is gone when it ends. Nothing at all where standard error is no terminal, or where another one is shown already.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress() { end(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Takes away the line that is shown and ends it for good: called by whoever is about to write to the terminal.
  static void hide();

 private:
  void end();
  void show();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace tutti
