#include "transport/host.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <thread>

namespace tutti {

Cancel::Cancel() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
Cancel::~Cancel() {
  if (fd_ >= 0) ::close(fd_);
}
void Cancel::raise() const {
  u64 one = 1;
  [[maybe_unused]] ssize_t n = ::write(fd_, &one, sizeof one);
}
bool Cancel::raised() const {
  pollfd p{fd_, POLLIN, 0};
  return ::poll(&p, 1, 0) == 1;
}

int CommandResult::lost_code() const {
  return end != End::kLost ? 0 : code == EHOSTUNREACH ? EHOSTUNREACH : ECONNRESET;
}

std::string CommandResult::describe() const {
  switch (end) {
    case End::kExited: return fmt::format("exit status {}", code);
    case End::kSignalled: return fmt::format("ended by signal {} ({})", code, ::strsignal(code));
    case End::kTimedOut: return message.empty() ? "did not end in time" : message;
    case End::kCancelled: return "was cancelled";
    case End::kNotStarted: return message.empty() ? "could not be started" : message;
    case End::kLost: return message.empty() ? "the connection was lost" : message;
  }
  return "";
}

std::string how_shell_says(int code) {
  CommandResult r;
  bool signalled = code > 128 && code < 128 + NSIG;
  r.end = signalled ? CommandResult::End::kSignalled : CommandResult::End::kExited;
  r.code = signalled ? code - 128 : code;
  return r.describe();
}

CommandResult Host::shell(std::string script, std::chrono::milliseconds timeout, const Cancel* cancel) {
  Command c;
  c.argv = {"/bin/sh", "-c", std::move(script)};
  c.timeout = timeout;
  c.cancel = cancel;
  return run(c);
}

Result<std::optional<DaemonIdentity>> Host::read_pid_file(const std::string& path) {
  auto state = stat(path, true, false);
  if (!state) return tl::unexpected(state.error());
  if (state->kind == FileState::Kind::kAbsent) return std::optional<DaemonIdentity>{};
  auto text = read(path);
  if (!text) return tl::unexpected(text.error());
  DaemonIdentity id;
  const char* end = text->data() + text->size();
  auto first = std::from_chars(text->data(), end, id.pid);
  if (first.ec != std::errc{} || id.pid <= 0) return std::optional<DaemonIdentity>{};
  if (first.ptr != end && *first.ptr == ' ') {
    auto second = std::from_chars(first.ptr + 1, end, id.birth);
    if (second.ptr != end && *second.ptr == ' ') {
      id.tag.assign(second.ptr + 1, end);
      while (!id.tag.empty() && id.tag.back() == '\n') id.tag.pop_back();
    }
  }
  // Whoever wrote a pid file says which process is going to be ended: another user only one of that user's own.
  if (state->uid != 0 && state->uid != ::geteuid()) {
    auto process = stat(fmt::format("/proc/{}", id.pid), true, false);
    if (!process) return tl::unexpected(process.error());
    if (process->kind != FileState::Kind::kAbsent && process->uid != state->uid)
      return failure(fmt::format("{} belongs to {} and names process {}, which does not: it is not believed", path,
                                 state->owner, id.pid),
                     kUntrusted);
  }
  return std::optional<DaemonIdentity>{id};
}

Result<void> Host::append(const std::string& path, std::string_view bytes) {
  Command k;
  k.argv = {"/bin/sh", "-c", "umask 077; cat >> " + shell_quote(path)};
  k.input = bytes;
  auto r = run(k);
  if (!r.ok()) return failure(fmt::format("cannot add to {}: {} {}", path, r.describe(), r.err), r.lost_code());
  return {};
}

Result<void> Host::make_parents(const std::string& path) {
  std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) return {};
  auto r = shell("mkdir -p -- " + shell_quote(path.substr(0, slash)));
  if (!r.ok()) return failure(r.err.empty() ? r.describe() : r.err, r.lost_code());
  return {};
}

Result<DaemonStanding> Host::standing(const std::string& pid_file) {
  auto known = read_pid_file(pid_file);
  if (!known) return tl::unexpected(known.error());
  if (!*known) return DaemonStanding{};
  auto is = alive(**known);
  if (!is) return tl::unexpected(is.error());
  return DaemonStanding{*known, *is};
}

Result<Host::Stopped> Host::stop(const DaemonIdentity& id, int signal, std::chrono::milliseconds limit) {
  using std::chrono::milliseconds;
  using Clock = std::chrono::steady_clock;
  auto gone = [&](milliseconds within) -> Result<bool> {
    auto step = milliseconds(2);
    for (auto end = Clock::now() + within;;) {
      auto is = alive(id);
      if (!is) return tl::unexpected(is.error());
      if (!*is) return true;
      if (Clock::now() >= end) return false;
      std::this_thread::sleep_for(step);
      step = std::min(step * 2, milliseconds(100));
    }
  };
  if (signal)
    if (auto r = this->signal(id, signal); !r) return tl::unexpected(r.error());
  auto went = gone(limit);
  if (!went) return tl::unexpected(went.error());
  if (*went) return Stopped::kGone;
  if (auto r = this->signal(id, SIGKILL); !r) return tl::unexpected(r.error());
  went = gone(milliseconds(5000));
  if (!went) return tl::unexpected(went.error());
  return *went ? Stopped::kKilled : Stopped::kStays;
}

std::string as_somebody(const Command& command) {
  if (command.user.empty() && command.group.empty()) return {};
  // Whoever is that already cannot, and need not, become it.
  std::string already = !command.group.empty() ? "" : shell_quote(command.user);
  std::string as = "setpriv";
  as += command.user.empty() ? " --clear-groups" : fmt::format(" --reuid={} --init-groups", shell_quote(command.user));
  as += command.group.empty() ? fmt::format(" --regid=$(id -g {})", shell_quote(command.user))
                              : fmt::format(" --regid={}", shell_quote(command.group));
  if (!already.empty())
    as = fmt::format("$(test \"$(id -un)\" = {0} || test \"$(id -u)\" = {0} || echo {1} --)", already, as);
  else
    as += " --";
  return as + " ";
}

bool is_variable(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return c < 128 && (std::isalnum(c) || c == '_'); });
}

std::string shell_quote(std::string_view word) {
  bool plain = !word.empty();
  for (char c : word)
    if (!std::isalnum(static_cast<unsigned char>(c)) && !std::strchr("_-./:=,@%+", c)) plain = false;
  if (plain) return std::string(word);
  std::string out = "'";
  for (char c : word) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

std::string sha256_hex(std::string_view bytes) {
  unsigned char md[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  EVP_Digest(bytes.data(), bytes.size(), md, &n, EVP_sha256(), nullptr);
  std::string out;
  out.reserve(n * 2);
  for (unsigned i = 0; i < n; ++i) {
    out += "0123456789abcdef"[md[i] >> 4];
    out += "0123456789abcdef"[md[i] & 15];
  }
  return out;
}

}  // namespace tutti
