#pragma once

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>

#include "base/stack.h"
#include "base/types.h"

namespace tutti {

// What only reads ends after this, unless the user says otherwise; runs of actions have times of their own.
constexpr std::chrono::milliseconds kReadingTime{300'000};

// What one request may use. The defaults are such that no honest input meets them; each has an option on the command
// line.
struct Limits {
  u64 input_bytes = u64{1} << 30;     // of one source, and of all together at most 2^31
  u64 nodes = 200'000'000;            // nodes of the tree
  u64 steps = 20'000'000'000;         // evaluation steps of a language
  u64 memory = u64{16} << 30;         // bytes of arenas
  u32 depth = 10'000;                 // nesting of syntax, of values, of evaluation
  u32 errors = 100;                   // diagnostics kept
  std::chrono::milliseconds time{0};  // 0: none
};

// Thrown when a limit is met; caught where the request began, and shown with its code.
class LimitError : public std::runtime_error {
 public:
  LimitError(std::string code, const std::string& what, u32 at = 0)
      : std::runtime_error(what), code_(std::move(code)), at_(at) {}
  const std::string& code() const { return code_; }
  u32 at() const { return at_; }  // the place in the sources where it was met (text/source.h), 0 when not known

 private:
  std::string code_;
  u32 at_;
};

// Counts what a request uses against its limits. Cheap enough for inner loops: the clock and the stop flag are looked
// at every 4096 steps only.
class Budget {
 public:
  explicit Budget(const Limits& limits = {});

  const Limits& limits() const { return limits_; }

  void step(u64 n = 1) {
    steps_ += n;
    if (steps_ >= next_look_) look();
  }
  void node(u64 n = 1) {
    nodes_ += n;
    if (nodes_ > limits_.nodes) too_many_nodes();
  }
  u64 steps() const { return steps_; }

  // To be called by another thread or a signal handler; the next look ends the request.
  void stop() { stop_.store(true, std::memory_order_relaxed); }

  // One level of nesting for as long as it lives: `Budget::Level level(budget);` at the top of a recursive function.
  // Ends the request where the user's limit is met, and before the stack is used up, whatever limit was asked for.
  class Level {
   public:
    explicit Level(Budget& budget) : budget_(budget) {
      if (budget_.depth_ == 0) budget_.stack_floor_ = stack_floor();
      if (budget_.depth_ >= budget_.limits_.depth || reinterpret_cast<const char*>(this) < budget_.stack_floor_)
        budget_.too_deep();
      budget_.depth_++;
    }
    ~Level() { --budget_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Budget& budget_;
  };

  // For readers that nest without recursion.
  [[noreturn]] void too_deep(u32 at = 0) const;

 private:
  void look();
  [[noreturn]] void too_many_nodes();

  Limits limits_;
  u64 steps_ = 0;
  u64 next_look_ = 4096;
  u64 nodes_ = 0;
  u32 depth_ = 0;
  const char* stack_floor_ = nullptr;  // of the thread that is on the first level
  std::atomic<bool> stop_{false};
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace tutti
