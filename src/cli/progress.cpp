#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

namespace tutti {
namespace {

void say(std::string_view text) {
  if (::write(2, text.data(), text.size()) < 0) return;  // nothing to be done about it
}

}  // namespace

Progress::Progress(std::string what) : what_(std::move(what)) {
  if (::isatty(2) == 1) thread_ = std::thread([this] { show(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    done_ = true;
  }
  ended_.notify_all();
  thread_.join();
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
