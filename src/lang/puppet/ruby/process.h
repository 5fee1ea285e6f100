#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tutti::puppet {

// The Ruby process behind the bridge: lines to it, lines from it. Started at the first use, ended with this object.
class RubyProcess {
 public:
  RubyProcess() = default;
  ~RubyProcess();
  RubyProcess(const RubyProcess&) = delete;
  RubyProcess& operator=(const RubyProcess&) = delete;

  // Whether there is a Ruby on the path; nothing is started.
  static bool available();

  Result<void> send(std::string_view line);  // without its newline
  Result<std::string> receive();             // one line; a failure when Ruby ended or said nothing for a minute

 private:
  Result<void> start();
  void stop();

  int pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string buffer_;
};

}  // namespace tutti::puppet
