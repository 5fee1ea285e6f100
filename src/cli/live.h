#pragma once

#include <mutex>
#include <string>
#include <string_view>

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

void say_now(std::string_view text);  // to standard error, at once
void say_out(std::string_view text);  // to standard output, at once

// Asks on the terminal; false without one.
bool ask_yes(std::string_view question);

// Standard error is a terminal that rewrites lines, and how wide it is.
engine::Progress::Manner terminal_manner();

}  // namespace tutti
