#include "cli/system/interrupts.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <mutex>
#include <thread>

#include "cli/exit_code.h"
#include "cli/live.h"

namespace tutti {
namespace {

class Interrupts {
 public:
  Interrupts() {
    sigemptyset(&set_);
    for (int s : {SIGINT, SIGTERM, SIGHUP, SIGUSR2}) sigaddset(&set_, s);
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
    thread_ = std::thread([this] {
      for (;;) {
        int got = 0;
        if (::sigwait(&set_, &got) != 0) continue;
        if (got == SIGUSR2) {  // our own end
          if (done_) return;
          continue;
        }
        if (++count_ > 2) {
          say_now("\nended at once; `tutti resume` goes on from here\n");
          ::_exit(exit_code::kUnknown);
        }
        {
          std::lock_guard lock(mutex_);
          if (stop_) stop_(count_ > 1);
        }
        // Said when it is so: whoever reads it can rely on it.
        say_now(count_ == 1 ? "\ninterrupted: what runs is finished, nothing more is started (once more ends it)\n"
                            : "\ninterrupted again: what runs is ended\n");
      }
    });
  }
  ~Interrupts() {
    done_ = true;
    ::pthread_kill(thread_.native_handle(), SIGUSR2);
    thread_.join();
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  void on_stop(std::function<void(bool)> f) {
    std::lock_guard lock(mutex_);
    stop_ = std::move(f);
    if (stop_ && count_ > 0) stop_(count_ > 1);  // it came before there was anything to stop
  }

 private:
  sigset_t set_, before_;
  std::mutex mutex_;
  std::function<void(bool)> stop_;
  std::atomic<int> count_{0};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

std::unique_ptr<Interrupts>& interrupts() {
  static std::unique_ptr<Interrupts> one;
  return one;
}

}  // namespace

void stop_on_signals(std::function<void(bool)> stop) {
  if (!interrupts()) interrupts() = std::make_unique<Interrupts>();
  interrupts()->on_stop(std::move(stop));
}

void end_interrupts() { interrupts().reset(); }

}  // namespace tutti
