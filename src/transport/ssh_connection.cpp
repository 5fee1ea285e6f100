#include "transport/ssh_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <thread>

#include "transport/sockets.h"

namespace tutti {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kPatience{60}, kPatienceAtFirst{10};
constexpr milliseconds kAttemptLimit{40000};                     // beyond ssh's own ConnectTimeout: keys, greetings
constexpr milliseconds kFirstPause{1000}, kLongestPause{30000};  // with the circuit open
constexpr milliseconds kCancelCheck{100};

// A host that has its hands full (MaxStartups, MaxSessions) closes a connection before it knows who is there: what ssh
// says then comes before any command is begun. (A command that says the same of another host has said `sign` before.)
bool turned_away(const CommandResult& r, const std::string& sign) {
  if (r.end != CommandResult::End::kExited || r.code != 255) return false;
  if (!sign.empty() && r.err.find(sign) != std::string::npos) return false;
  return r.err.find("kex_exchange_identification") != std::string::npos ||
         r.err.find("banner exchange") != std::string::npos;
}

}  // namespace

std::string said_by_ssh(std::string_view text) {
  std::string line;
  for (char c : text) {
    bool ends = c == '\n' || c == '\r';
    if (!ends)
      line += c;
    else if (!line.empty() && !line.ends_with("; "))
      line += "; ";
  }
  if (line.ends_with("; ")) line.resize(line.size() - 2);
  return line;
}

SshConnection::SshConnection(SshTarget target, Host& local) : target_(std::move(target)), local_(local) {
  if (auto path = new_socket_path()) socket_ = *path;
}

SshConnection::~SshConnection() {
  if (!up() || socket_.empty()) return;
  Command c;
  c.argv = argv({"-O", "exit"});
  c.timeout = milliseconds(3000);
  local_.run(c);
}

std::vector<std::string> SshConnection::argv(const std::vector<std::string>& options,
                                             const std::string& command) const {
  std::vector<std::string> words{"ssh", "-T"};
  auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  if (!target_.config.empty()) add({"-F", target_.config});
  if (!target_.identity.empty()) add({"-i", target_.identity});
  if (!target_.user.empty()) add({"-l", target_.user});
  if (target_.port) add({"-p", std::to_string(target_.port)});
  for (auto& o : target_.options) add({"-o", o});
  if (!socket_.empty()) add({"-o", "ControlMaster=auto", "-o", "ControlPath=" + socket_, "-o", "ControlPersist=60"});
  add({"-o", "BatchMode=yes", "-o", fmt::format("ServerAliveInterval={}", std::max(1, static_cast<int>(target_.alive))),
       "-o", "ServerAliveCountMax=3", "-o", "ConnectTimeout=15"});
  words.insert(words.end(), options.begin(), options.end());
  add({"--", target_.destination});  // a name is never an option, whatever it begins with
  if (!command.empty()) words.push_back(command);
  return words;
}

bool SshConnection::up() const {
  std::lock_guard lock(mutex_);
  return state_ == State::kUp;
}

void SshConnection::lost() {
  std::lock_guard lock(mutex_);
  if (state_ == State::kUp) state_ = State::kNone;
}

CommandResult SshConnection::unreachable(const CommandResult& r) const {
  CommandResult lost;
  lost.end = r.end == CommandResult::End::kCancelled ? CommandResult::End::kCancelled : CommandResult::End::kLost;
  lost.code = EHOSTUNREACH;
  std::string why = said_by_ssh(r.err);
  lost.message = fmt::format("cannot reach {}: {}", target_.name, why.empty() ? r.describe() : why);
  return lost;
}

std::optional<CommandResult> SshConnection::ensure(const Cancel* cancel) {
  std::unique_lock lock(mutex_);
  bool waited = state_ == State::kConnecting;
  while (state_ == State::kConnecting) {
    if (cancel && cancel->raised()) {
      CommandResult gave_up;
      gave_up.end = CommandResult::End::kCancelled;
      return unreachable(gave_up);
    }
    changed_.wait_for(lock, kCancelCheck);
  }
  if (state_ == State::kUp) return std::nullopt;
  if (state_ == State::kOpenCircuit && (waited || Clock::now() < closed_until_)) {
    CommandResult failed = unreachable(failed_);
    if (!waited) failed.message += " (tried a moment ago, and not again so soon)";
    return failed;
  }
  state_ = State::kConnecting;
  lock.unlock();
  CommandResult r = connect(cancel);
  lock.lock();
  if (r.ok()) {
    state_ = State::kUp;
    pause_ = milliseconds(0);
  } else if (r.end == CommandResult::End::kCancelled) {
    state_ = State::kNone;
  } else {
    state_ = State::kOpenCircuit;
    failed_ = r;
    pause_ = std::clamp(pause_ * 2, kFirstPause, kLongestPause);
    closed_until_ = Clock::now() + pause_;
  }
  changed_.notify_all();
  if (r.ok()) return std::nullopt;
  return unreachable(r);
}

CommandResult SshConnection::connect(const Cancel* cancel) {
  Command c;
  c.argv = argv({}, "true");
  c.timeout = kAttemptLimit;
  c.cancel = cancel;
  bool begun = true;
  return run_patiently(c, "", kPatienceAtFirst, begun);
}

CommandResult SshConnection::run(const Command& command, const std::string& sign, bool& begun) {
  return run_patiently(command, sign, kPatience, begun);
}

CommandResult SshConnection::run_patiently(const Command& c, const std::string& sign, std::chrono::seconds patience,
                                           bool& begun) {
  auto end = Clock::now() + patience;
  static thread_local std::mt19937 random{std::random_device{}()};
  for (int most = 100;; most = std::min(most * 2, 2000)) {
    CommandResult r = local_.run(c);
    begun = !turned_away(r, sign);
    if (begun || Clock::now() >= end || (c.cancel && c.cancel->raised())) return r;
    // Several are turned away together: they come back at different times.
    std::this_thread::sleep_for(milliseconds(std::uniform_int_distribution<int>(most / 2, most)(random)));
  }
}

}  // namespace tutti
