#include "lang/puppet/ruby/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "lang/puppet/ruby/script.h"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace tutti::puppet {
namespace {

constexpr std::chrono::seconds kPatience{60};  // for one answer
constexpr int kSlice = 100;                    // milliseconds between two looks at whether anybody still waits
constexpr rlim_t kMemory = rlim_t{2} << 30;    // address space of Ruby

auto system_failure(std::string_view what) {
  int code = errno;
  return failure(fmt::format("{}: {}", what, std::strerror(code)), code);
}

std::string ruby_path() {
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path == nullptr ? "/usr/bin:/bin" : path; !rest.empty();) {
    std::size_t end = std::min(rest.find(':'), rest.size());
    std::string candidate = fmt::format("{}/ruby", rest.substr(0, end));
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

}  // namespace

bool RubyProcess::available() { return !ruby_path().empty(); }

RubyProcess::~RubyProcess() { stop(); }

void RubyProcess::stop() {
  if (to_ >= 0) ::close(to_);
  if (from_ >= 0) ::close(from_);
  to_ = from_ = -1;
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);  // it holds nothing: all it knows is in this process
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
  buffer_.clear();
}

// Sockets rather than pipes, so that writing to a Ruby that died is an error and not a signal.
Result<void> RubyProcess::start() {
  std::string ruby = ruby_path();
  if (ruby.empty()) return failure("there is no ruby on the path (package: ruby)");
  int in[2], out[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0) return system_failure("cannot start ruby");
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out) != 0) {
    ::close(in[0]);
    ::close(in[1]);
    return system_failure("cannot start ruby");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[1], 0);
  posix_spawn_file_actions_adddup2(&actions, 2, 1);  // what Ruby code prints goes to standard error
  posix_spawn_file_actions_adddup2(&actions, out[1], 3);
  std::string script(kRubyScript);
  std::string name = "ruby", quiet = "-W0", external = "-EUTF-8:UTF-8",
              fast = "--disable=gems,did_you_mean,error_highlight,rubyopt", run = "-e";
  char* argv[] = {name.data(), quiet.data(), external.data(), fast.data(), run.data(), script.data(), nullptr};
  pid_t pid = -1;
  int bad = ::posix_spawn(&pid, ruby.c_str(), &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(in[1]);
  ::close(out[1]);
  if (bad != 0) {
    ::close(in[0]);
    ::close(out[0]);
    errno = bad;
    return system_failure("cannot start ruby");
  }
  // A template that makes text without end meets this, and is told of it as any other mistake of Ruby code.
  rlimit room{kMemory, kMemory};
  ::prlimit(pid, RLIMIT_AS, &room, nullptr);
  pid_ = pid;
  to_ = in[0];
  from_ = out[0];
  return {};
}

Result<void> RubyProcess::send(std::string_view line) {
  if (pid_ < 0) {
    if (Result<void> started = start(); !started) return started;
  }
  std::string text(line);
  text += '\n';
  for (std::string_view rest = text; !rest.empty();) {
    ssize_t n = ::send(to_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      stop();
      return failure("the ruby process ended unexpectedly");
    }
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<std::string> RubyProcess::receive(const std::function<void()>& meanwhile) {
  std::size_t looked = 0;
  auto until = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    if (std::size_t end = buffer_.find('\n', looked); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    looked = buffer_.size();
    pollfd waiting{from_, POLLIN, 0};
    int ready = ::poll(&waiting, 1, kSlice);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && std::chrono::steady_clock::now() < until) {
      if (meanwhile) meanwhile();
      continue;
    }
    if (ready == 0) {
      stop();
      return failure("ruby gave no answer for a minute");
    }
    char block[65536];
    ssize_t n = ::read(from_, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      stop();
      return failure("the ruby process ended unexpectedly");
    }
    buffer_.append(block, static_cast<std::size_t>(n));
  }
}

}  // namespace tutti::puppet
