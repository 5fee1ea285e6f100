// The one connection to a host that all commands on it share (OpenSSH's ControlMaster): who makes it, who waits for it,
// and when the host is left alone for a while.
//
// One caller at a time connects. Who comes meanwhile waits for that attempt and shares what came of it, without holding
// a lock over the network. After an attempt that failed the circuit is open: for a time that doubles from one attempt
// to the next, every call fails at once and says why, so that a machine that is down costs a run one time-out and not
// one for each of its components. Rejected: an attempt for every command (thirty components waited thirty time-outs,
// and kept everybody else's workers busy), and a check in the background (nothing may run when nobody asked).
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "transport/host.h"
#include "transport/ssh.h"

namespace tutti {

class SshConnection {
 public:
  SshConnection(SshTarget target, Host& local);
  ~SshConnection();  // ends the shared connection, for this process alone
  SshConnection(const SshConnection&) = delete;
  SshConnection& operator=(const SshConnection&) = delete;

  // The words that run `command` there (none: the options alone are of use, as for `-O exit`).
  std::vector<std::string> argv(const std::vector<std::string>& options, const std::string& command = "") const;
  // Nothing once there is a connection; else what a command that was never begun ends with.
  std::optional<CommandResult> ensure(const Cancel* cancel);
  bool up() const;
  // A command was cut off: whoever comes next connects anew.
  void lost();
  // Runs a command that speaks `sign` on its standard error before it begins anything, and again as long as the host
  // turns it away for being busy. `begun` false: it never came to it.
  CommandResult run(const Command& command, const std::string& sign, bool& begun);
  // What a result means of which nothing was begun there.
  CommandResult unreachable(const CommandResult& result) const;

 private:
  using Clock = std::chrono::steady_clock;
  enum class State : u8 { kNone, kConnecting, kUp, kOpenCircuit };
  CommandResult connect(const Cancel* cancel);
  CommandResult run_patiently(const Command& command, const std::string& sign, std::chrono::seconds patience,
                              bool& begun);

  SshTarget target_;
  Host& local_;
  std::string socket_;  // path of the shared connection's socket; "" where none can be made: each command connects
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kNone;
  std::chrono::milliseconds pause_{0};
  Clock::time_point closed_until_{};
  CommandResult failed_;  // of the last attempt
};

// What ssh says itself, as one line: it ends its lines with a carriage return too.
std::string said_by_ssh(std::string_view text);

}  // namespace tutti
