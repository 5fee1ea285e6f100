#include "engine/run/process_executor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>

#include "base/utf8.h"

extern char** environ;

namespace tutti::engine {

namespace {

double monotonic() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

std::string scalar_text(const Value& v) {
  switch (v.kind()) {
    case Kind::kString: return std::string(v.text());
    case Kind::kInt:
    case Kind::kDecimal: return v.number_text();
    case Kind::kBool: return v.as_bool() ? "true" : "false";
    default: return {};
  }
}

std::string variable(std::string_view key) {
  std::string out;
  for (char c : key) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (!out.empty() && std::isdigit(static_cast<unsigned char>(out[0]))) out.insert(out.begin(), '_');
  return out;
}

// A file without a name for what a process prints: nothing to read while it runs, nothing that fills up, and a child
// that lives on with it open keeps nobody waiting.
int nameless_file(const char* what) {
  int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC | O_APPEND, 0600);
  if (fd < 0) fd = memfd_create(what, MFD_CLOEXEC);
  return fd;
}

std::string read_tail(int fd, std::size_t most) {
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0) return {};
  std::size_t size = static_cast<std::size_t>(st.st_size), n = std::min(size, most);
  std::string text(n, '\0');
  ssize_t got = pread(fd, text.data(), n, static_cast<off_t>(size - n));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

ActionResult cancelled_result() {
  ActionResult r;
  r.how = How::kCancelled;
  return r;
}

constexpr int kOutputFd = 9;  // where a child finds its $TUTTI_OUTPUT

}  // namespace

struct ProcessExecutor::Job {
  u64 id = 0;
  u32 instance = 0, transition = 0, attempt = 0;
  double started = 0, timeout = 0;
  std::vector<std::string> argv, environment;
  std::string cwd, input;
  double sleep = -1;
  pid_t pid = -1;
  int pidfd = -1, log = -1, output = -1;
  double alarm = 0;  // when it is due; an earlier one in the heap is out of date
  bool launched = false, timed_out = false, cancelled = false, killed = false;
};

ProcessExecutor::ProcessExecutor() : ProcessExecutor(Options{}) {}

ProcessExecutor::ProcessExecutor(const Options& options) : options_(options), began_(monotonic()) {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event e{};
  e.events = EPOLLIN;
  e.data.u64 = 0;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &e);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < files.rlim_max) {
    files.rlim_cur = std::min<rlim_t>(files.rlim_max, 1 << 16);
    setrlimit(RLIMIT_NOFILE, &files);
  }
  getrlimit(RLIMIT_NOFILE, &files);
  room_ = static_cast<u32>(std::min<rlim_t>(files.rlim_cur, 1 << 16));
  room_ = room_ > 100 ? (room_ - 64) / 4 : 8;
  if (options_.most_processes) room_ = std::min(room_, options_.most_processes);
  if (options_.guard) guardian_ = std::make_unique<Guardian>(options_.run);
  for (char** v = environ; *v; ++v) environment_.emplace_back(*v);
}

ProcessExecutor::~ProcessExecutor() {
  stop_all();
  close(event_);
  close(epoll_);
}

double ProcessExecutor::now() const { return monotonic() - began_; }

void ProcessExecutor::wake() {
  u64 one = 1;
  [[maybe_unused]] ssize_t n = write(event_, &one, sizeof one);
}

void ProcessExecutor::start(const ActionRequest& q) {
  auto job = std::make_unique<Job>();
  Job& j = *job;
  j.id = next_++;
  j.instance = q.instance;
  j.transition = q.transition;
  j.attempt = q.attempt;
  j.timeout = q.timeout;
  j.started = now();
  auto fail = [&](std::string message) {
    ActionResult r;
    r.how = How::kFailed;
    r.message = std::move(message);
    finish(j, std::move(r));
  };
  const Value& what = q.action->what;
  if (!what.is(Kind::kMap)) return finish(j, {});  // nothing to do
  if (stopped_) return finish(j, cancelled_result());
  if (const Entry* e = what.find("sleep")) {
    j.sleep = std::strtod(scalar_text(e->value).c_str(), nullptr);
    by_action_[u64{j.instance} << 32 | j.transition] = j.id;
    jobs_.emplace(j.id, std::move(job));
    return set_alarm(j, j.started + j.sleep);
  }
  const Entry* run = what.find("run");
  if (!run) return finish(j, {});
  if (run->value.is(Kind::kList)) {
    for (const Value& w : run->value.items()) j.argv.push_back(scalar_text(w));
  } else {
    j.argv = {"/bin/sh", "-c", scalar_text(run->value)};
  }
  if (j.argv.empty() || j.argv[0].empty()) return fail("`run` is empty");
  if (const Value* check = q.in_flight ? q.action->check() : nullptr) {
    static constexpr const char* kUnlessDone = "if (eval \"$0\") </dev/null; then exit 0; fi; exec \"$@\"";
    j.argv.insert(j.argv.begin(), {"/bin/sh", "-c", kUnlessDone, scalar_text(*check)});
  }
  if (const Entry* e = what.find("cwd")) j.cwd = scalar_text(e->value);
  if (const Entry* e = what.find("stdin")) j.input = scalar_text(e->value);

  const model::ComponentType& type = q.system->type_of(q.instance);
  const model::Instance& instance = q.system->instances[q.instance];
  auto put = [&](std::string_view k, std::string_view v) { j.environment.push_back(fmt::format("{}={}", k, v)); };
  put("TUTTI_INSTANCE", instance.name.text());
  put("TUTTI_TYPE", type.name.text());
  put("TUTTI_TRANSITION", type.transitions[q.transition].name.text());
  put("TUTTI_ATTEMPT", std::to_string(q.attempt));
  put("TUTTI_OUTPUT", fmt::format("/proc/self/fd/{}", kOutputFd));
  if (instance.with.is(Kind::kMap))
    for (const Entry& e : instance.with.entries())
      if (e.value.is_scalar()) put(variable(e.key.text()), scalar_text(e.value));
  if (q.inputs)
    for (const auto& [k, v] : *q.inputs) put(variable(k), v);
  if (const Entry* e = what.find("env"); e && e->value.is(Kind::kMap))
    for (const Entry& x : e->value.entries()) put(x.key.text(), scalar_text(x.value));

  by_action_[u64{j.instance} << 32 | j.transition] = j.id;
  u64 id = j.id;
  jobs_.emplace(id, std::move(job));
  if (processes_ >= room_)
    queue_.push_back(id);
  else
    launch(*jobs_[id]);
}

void ProcessExecutor::launch(Job& j) {
  if (std::string why = options_.why_not ? options_.why_not() : ""; !why.empty()) {
    ActionResult r = cancelled_result();
    r.message = std::move(why);
    return finish(j, std::move(r));
  }
  ++processes_;
  j.launched = true;
  j.started = now();
  auto fail = [&](std::string message, int error) {
    ActionResult r;
    r.how = How::kFailed;
    r.code = 127;
    r.message = fmt::format("{}: {}", message, std::strerror(error));
    finish(j, std::move(r));
  };
  j.log = nameless_file("log");
  j.output = memfd_create("output", MFD_CLOEXEC);
  int in = -1;
  if (!j.input.empty()) {
    in = memfd_create("input", MFD_CLOEXEC);
    if (in >= 0 && (write(in, j.input.data(), j.input.size()) < 0 || lseek(in, 0, SEEK_SET) < 0)) {
      close(in);
      return fail("its standard input", errno);
    }
  }
  if (j.log < 0 || j.output < 0) {
    if (in >= 0) close(in);
    return fail("no file for its output", errno);
  }
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (in >= 0)
    posix_spawn_file_actions_adddup2(&files, in, 0);
  else
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, j.log, 1);
  posix_spawn_file_actions_adddup2(&files, j.log, 2);
  posix_spawn_file_actions_adddup2(&files, j.output, kOutputFd);
  if (!j.cwd.empty()) posix_spawn_file_actions_addchdir_np(&files, j.cwd.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none, common;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigemptyset(&common);
  for (int s : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT}) sigaddset(&common, s);
  posix_spawnattr_setsigdefault(&attributes, &common);

  if (guardian_) j.environment.push_back("TUTTI_ACTION=" + guardian_->mark(j.instance, j.transition));
  std::vector<char*> argv, env;
  for (std::string& s : j.argv) argv.push_back(s.data());
  argv.push_back(nullptr);
  // Ours first: the C library takes the first of two equal names, so what an action sets must not be there twice.
  auto name_of = [](const std::string& s) { return std::string_view(s).substr(0, s.find('=')); };
  for (std::string& s : environment_)
    if (std::none_of(j.environment.begin(), j.environment.end(),
                     [&](const std::string& x) { return name_of(x) == name_of(s); }))
      env.push_back(s.data());
  for (std::size_t k = 0; k < j.environment.size(); ++k)  // of two that the action has the later one wins
    if (std::none_of(j.environment.begin() + static_cast<std::ptrdiff_t>(k) + 1, j.environment.end(),
                     [&](const std::string& x) { return name_of(x) == name_of(j.environment[k]); }))
      env.push_back(j.environment[k].data());
  env.push_back(nullptr);

  if (guardian_) guardian_->opening(j.instance, j.transition);
  int error = posix_spawnp(&j.pid, argv[0], &files, &attributes, argv.data(), env.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (in >= 0) close(in);
  if (error) {
    j.pid = -1;
    return fail(j.cwd.empty() ? j.argv[0] : fmt::format("{} (in {})", j.argv[0], j.cwd), error);
  }
  if (guardian_) guardian_->started(j.instance, j.transition, j.pid);
  j.pidfd = static_cast<int>(syscall(SYS_pidfd_open, j.pid, 0));
  epoll_event e{};
  e.events = EPOLLIN;
  e.data.u64 = j.id;
  if (j.pidfd < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, j.pidfd, &e) != 0) {
    kill(-j.pid, SIGKILL);
    waitpid(j.pid, nullptr, 0);
    return fail("it cannot be watched", errno);
  }
  if (j.timeout > 0) set_alarm(j, j.started + j.timeout);
}

void ProcessExecutor::set_alarm(Job& j, double at) {
  j.alarm = at;
  alarms_.push({at, j.id});
}

void ProcessExecutor::alarm(u64 id) {
  auto it = jobs_.find(id);
  if (it == jobs_.end()) return;
  Job& j = *it->second;
  if (j.alarm > now()) return;  // another one is due later
  if (j.sleep >= 0) return finish(j, {});
  if (j.pid < 0) return;
  if (!j.timed_out && !j.cancelled) j.timed_out = true;
  kill(-j.pid, j.killed ? SIGKILL : SIGTERM);
  if (!j.killed) {
    j.killed = true;  // next time for good
    set_alarm(j, now() + options_.grace);
  }
}

void ProcessExecutor::cancel(u32 instance, u32 transition) {
  auto at = by_action_.find(u64{instance} << 32 | transition);
  if (at == by_action_.end()) return;
  Job& j = *jobs_[at->second];
  j.cancelled = true;
  if (j.sleep >= 0 || j.pid < 0) return finish(j, cancelled_result());
  if (!j.killed) {
    kill(-j.pid, SIGTERM);
    j.killed = true;
    set_alarm(j, now() + options_.grace);
  }
}

void ProcessExecutor::read_outputs(Job& j, ActionResult& r) const {
  // A secret that the cut goes through would not be known again: cut after cleaning.
  r.log = options_.clean ? options_.clean(read_tail(j.log, options_.log_bytes + 4096))
                         : read_tail(j.log, options_.log_bytes);
  if (r.log.size() > options_.log_bytes) r.log.erase(0, r.log.size() - options_.log_bytes);
  std::string text = read_tail(j.output, 1 << 20);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    auto eq = line.find('=');
    if (eq == std::string_view::npos || eq == 0) continue;
    std::string key(line.substr(0, eq)), value(line.substr(eq + 1));
    if (key == "outcome")
      r.outcome = value;
    else
      r.outputs.emplace_back(std::move(key), std::move(value));
  }
}

void ProcessExecutor::collect_exit(Job& j) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(j.pid), &info, WEXITED | WNOHANG) != 0 || info.si_pid == 0) return;
  ActionResult r;
  r.code = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
  read_outputs(j, r);
  if (j.cancelled) {
    r.how = How::kCancelled;
    r.message = "cancelled";
  } else if (j.timed_out) {
    r.how = How::kTimeout;
    r.message = fmt::format("did not end within {} s", j.timeout);
  } else if (r.code != 0) {
    r.how = How::kFailed;
    r.message = info.si_code == CLD_EXITED ? fmt::format("exit code {}", r.code)
                                           : fmt::format("killed by signal {}", info.si_status);
  }
  auto no_text = [](const auto& o) { return utf8::first_invalid(o.first + o.second) != std::string::npos; };
  if (auto bad = std::ranges::find_if(r.outputs, no_text); bad != r.outputs.end()) {
    if (r.how == How::kOk) {
      r.how = How::kFailed;
      r.message = fmt::format("its output `{}` is not UTF-8", utf8::repaired(bad->first));
    }
    std::erase_if(r.outputs, no_text);
  }
  if (r.how != How::kOk && info.si_code != CLD_EXITED) kill(-j.pid, SIGKILL);  // nobody of a killed group stays
  j.pid = -1;
  finish(j, std::move(r));
}

void ProcessExecutor::finish(Job& j, ActionResult&& r) {
  r.instance = j.instance;
  r.transition = j.transition;
  r.attempt = j.attempt;
  r.started = j.started;
  r.ended = now();
  done_.push_back(std::move(r));
  auto it = jobs_.find(j.id);
  if (it == jobs_.end()) return;  // never began
  by_action_.erase(u64{j.instance} << 32 | j.transition);
  if (j.launched) {
    --processes_;
    if (guardian_) guardian_->ended(j.instance, j.transition);
    for (int fd : {j.pidfd, j.log, j.output})
      if (fd >= 0) close(fd);  // closing the pidfd takes it out of epoll
  }
  jobs_.erase(it);
}

void ProcessExecutor::start_queued() {
  while (queue_at_ < queue_.size() && processes_ < room_) {
    auto it = jobs_.find(queue_[queue_at_++]);
    if (it != jobs_.end()) launch(*it->second);
  }
  if (queue_at_ == queue_.size()) queue_.clear(), queue_at_ = 0;
}

void ProcessExecutor::wait(std::vector<ActionResult>& results, double until) {
  epoll_event events[256];
  for (;;) {
    while (!alarms_.empty() && alarms_.top().at <= now()) {
      u64 id = alarms_.top().job;
      alarms_.pop();
      alarm(id);
    }
    start_queued();
    double next = alarms_.empty() ? until : std::min(until, alarms_.top().at);
    double left = done_.empty() ? next - now() : 0;
    timespec time{}, *timeout = nullptr;
    if (!std::isinf(left)) {
      left = std::max(left, 0.0);
      time.tv_sec = static_cast<time_t>(left);
      time.tv_nsec = static_cast<long>((left - std::floor(left)) * 1e9);
      timeout = &time;
    }
    int n = epoll_pwait2(epoll_, events, 256, timeout, nullptr);
    bool woken = false;
    for (int k = 0; k < n; ++k) {
      if (events[k].data.u64 == 0) {
        u64 count;
        [[maybe_unused]] ssize_t got = read(event_, &count, sizeof count);
        woken = true;
        continue;
      }
      auto it = jobs_.find(events[k].data.u64);
      if (it != jobs_.end()) collect_exit(*it->second);
    }
    if (!done_.empty() || woken || now() >= until || (jobs_.empty() && std::isinf(until))) break;
  }
  results.insert(results.end(), std::make_move_iterator(done_.begin()), std::make_move_iterator(done_.end()));
  done_.clear();
}

void ProcessExecutor::stop_all() {
  stopped_ = true;
  queue_.clear();
  queue_at_ = 0;
  for (auto& [id, job] : jobs_)
    if (job->pid > 0) kill(-job->pid, SIGKILL);
  while (!jobs_.empty()) {
    Job& job = *jobs_.begin()->second;
    if (job.pid > 0)
      while (waitpid(job.pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    finish(job, cancelled_result());
  }
}

}  // namespace tutti::engine
