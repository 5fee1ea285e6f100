#include "cli/live.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "base/terminal.h"

namespace tutti {

void Live::put(std::string_view text) { say_to(2, text); }

void Live::say(std::string_view text) {
  std::lock_guard lock(mutex_);
  if (status_.empty()) return put(text);
  bool whole = text.ends_with('\n');  // a question waits for its answer in its own line
  std::string all = "\r\033[K" + std::string(text) + (whole ? status_ : "");
  if (!whole) status_.clear();
  put(all);
}

void Live::line(const std::string& text) { say(text + "\n"); }

void Live::status(const std::string& text) {
  std::lock_guard lock(mutex_);
  if (text == status_) return;
  status_ = text;
  put("\r\033[K" + text);
}

Live& live() {
  static Live one;
  return one;
}

engine::Progress::Manner terminal_manner() {
  engine::Progress::Manner m;
  const char* term = std::getenv("TERM");
  m.live = ::isatty(2) == 1 && (!term || std::string_view(term) != "dumb");
  winsize size{};
  if (m.live && ::ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 10) m.columns = size.ws_col;
  return m;
}

}  // namespace tutti
