#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "base/terminal.h"

namespace tutti {
namespace {

std::atomic<Progress*> shown_now = nullptr;

void say(std::string_view text) { say_to(2, text); }

// A line that is written over again needs more than a typewriter.
bool can_rewrite_lines() {
  const char* term = std::getenv("TERM");
  return ::isatty(2) == 1 && term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

}  // namespace

Progress::Progress(std::string what) : what_(for_terminal(what)) {
  Progress* none = nullptr;
  if (can_rewrite_lines() && shown_now.compare_exchange_strong(none, this)) thread_ = std::thread([this] { show(); });
}

void Progress::hide() {
  if (Progress* now = shown_now.exchange(nullptr)) now->end();
}

void Progress::end() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    done_ = true;
  }
  ended_.notify_all();
  thread_.join();
  Progress* self = this;
  shown_now.compare_exchange_strong(self, nullptr);
}

void Progress::show() {
  auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  bool shown = false;
  for (auto wait = std::chrono::milliseconds(1000); !ended_.wait_for(lock, wait, [this] { return done_; });
       wait = std::chrono::milliseconds(500)) {
    auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start).count();
    say(fmt::format("\r\x1b[K[ {} | {} s ]", what_, seconds));
    shown = true;
  }
  if (shown) say("\r\x1b[K");
}

}  // namespace tutti
