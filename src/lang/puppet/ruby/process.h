#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace tutti::puppet {

// Where the environment says that Ruby finds libraries besides its own.
std::vector<std::string> ruby_library_folders();

// The Ruby process behind the bridge: lines to it, lines from it. Started at the first use, in a sandbox
// (base/sandbox.h), ended with this object.
class RubyProcess {
 public:
  RubyProcess() = default;
  ~RubyProcess();
  RubyProcess(const RubyProcess&) = delete;
  RubyProcess& operator=(const RubyProcess&) = delete;

  // Whether there is a Ruby on the path; nothing is started.
  static bool available();

  bool running() const { return pid_ >= 0; }
  // Whether the Ruby that runs, or will run, was told of another environment last, or of none.
  bool first_told(u64 environment) {
    if (pid_ >= 0 && told_ == environment) return false;
    told_ = environment;
    return true;
  }
  Result<void> send(std::string_view line);  // without its newline
  // One line; a failure when Ruby ended or said nothing for a minute. While it waits it calls `meanwhile` several times
  // a second, which may throw: who waits no longer stops Ruby.
  Result<std::string> receive(const std::function<void()>& meanwhile = {});
  // What the kernel does not give to keep it in its place, to be told once; "" otherwise.
  std::string take_lacking() { return std::exchange(lacking_, {}); }
  void stop();  // in the middle of whatever it does; the next request starts another one

 private:
  Result<void> start();

  int pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string buffer_;
  std::string lacking_;
  u64 told_ = 0;
};

}  // namespace tutti::puppet
