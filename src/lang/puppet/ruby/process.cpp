#include "lang/puppet/ruby/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/boundary.h"
#include "base/sandbox.h"
#include "base/terminal.h"
#include "lang/puppet/ruby/script.h"

namespace tutti::puppet {
namespace {

constexpr std::chrono::seconds kPatience{60};  // for one answer
constexpr int kSlice = 100;                    // milliseconds between two looks at whether anybody still waits
constexpr u64 kMemory = u64{2} << 30;          // address space of Ruby

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

// Folders that a variable of the environment lists, separated by colons.
void add_listed(std::vector<std::string>& to, const char* variable) {
  const char* value = std::getenv(variable);
  for (std::string_view rest = value != nullptr ? value : ""; !rest.empty();) {
    std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 1) to.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace

std::vector<std::string> ruby_library_folders() {
  std::vector<std::string> out;
  for (const char* variable : {"RUBYLIB", "GEM_HOME", "GEM_PATH"}) add_listed(out, variable);
  return out;
}

namespace {

// Templates and functions compute: they read their modules and Ruby's own libraries, and that is all.
Confinement confinement() {
  Confinement c;
  Boundary* boundary = Boundary::in_force();
  c.readable = boundary != nullptr ? boundary->roots() : std::vector<std::string>{"/"};
  for (std::string& folder : ruby_library_folders()) c.readable.push_back(std::move(folder));
  c.memory = kMemory;  // a template that makes text without end meets this, and is told of it as any other mistake
  if (boundary != nullptr) c.owner_of = boundary->projects().front();
  return c;
}

}  // namespace

bool RubyProcess::available() { return !ruby_path().empty(); }

RubyProcess::~RubyProcess() { stop(); }

void RubyProcess::stop() {
  if (to_ >= 0) ::close(to_);
  if (from_ >= 0) ::close(from_);
  to_ = from_ = -1;
  end_confined(pid_);  // it holds nothing: all it knows is in this process
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
  const int errors = error_descriptor_for_helpers();  // what Ruby code prints goes there, too
  Result<HelperProcess> started =
      start_confined({ruby, "-W0", "-EUTF-8:UTF-8", "--disable=gems,did_you_mean,error_highlight,rubyopt", "-e",
                      std::string(kRubyScript)},
                     {in[1], errors, errors, out[1]}, "", confinement());
  ::close(in[1]);
  ::close(out[1]);
  if (!started) {
    ::close(in[0]);
    ::close(out[0]);
    return tl::unexpected<Failure>(started.error());
  }
  lacking_ = said_once(started->lacking);
  pid_ = started->pid;
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
