#include "cli/live.h"

#include <fmt/format.h>
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

void say_now(std::string_view text) { live().say(text); }

void say_out(std::string_view text) { say_to(1, text); }

bool ask_yes(std::string_view question) {
  if (!::isatty(0) || !::isatty(2)) {
    say_now("there is no terminal to ask on: say --yes\n");
    return false;
  }
  say_now(fmt::format("{} Only `yes` does it: ", question));
  std::string answer;
  char c = 0;
  while (::read(0, &c, 1) == 1 && c != '\n') answer += c;
  if (c != '\n') say_now("\n");  // the input ended: what is said next begins a line
  return answer == "yes";
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
