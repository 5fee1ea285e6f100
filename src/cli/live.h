#pragma once

#include <mutex>
#include <string>

#include "engine/report/progress.h"

namespace tutti {

// Standard error with a last line that is rewritten. Whatever else is said goes above it.
class Live : public engine::Display {
 public:
  void line(const std::string& text) override;
  void status(const std::string& text) override;
  void say(std::string_view text);  // as it is, with its ends of lines

 private:
  void put(std::string_view text);
  std::mutex mutex_;
  std::string status_;
};
Live& live();

// Standard error is a terminal that rewrites lines, and how wide it is.
engine::Progress::Manner terminal_manner();

}  // namespace tutti
