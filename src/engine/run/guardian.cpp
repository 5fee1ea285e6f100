#include "engine/run/guardian.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>

namespace tutti::engine {

namespace {

using Action = std::pair<u32, u32>;  // instance, transition

struct Record {
  u32 instance, transition;
  int pid;
  char what;  // o opening, s started, e ended, q quit
};

bool read_all(int fd, void* to, std::size_t n) {
  char* p = static_cast<char*>(to);
  while (n) {
    ssize_t got = read(fd, p, n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    p += got;
    n -= static_cast<std::size_t>(got);
  }
  return true;
}

// Kills every process whose environment has the mark of an open action. Returns how many there were.
int kill_marked(const std::string& run, const std::map<Action, int>& open) {
  DIR* proc = opendir("/proc");
  if (!proc) return 0;
  int killed = 0;
  std::string text;
  while (dirent* e = readdir(proc)) {
    int pid = std::atoi(e->d_name);
    if (pid <= 1 || pid == getpid()) continue;
    int fd = openat(dirfd(proc), (std::string(e->d_name) + "/environ").c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    text.clear();
    char block[4096];
    ssize_t n;
    while ((n = read(fd, block, sizeof block)) > 0) text.append(block, static_cast<std::size_t>(n));
    close(fd);
    std::string key = "TUTTI_ACTION=" + run + "/";
    std::size_t at = text.compare(0, key.size(), key) == 0 ? 0 : text.find('\0' + key);
    if (at == std::string::npos) continue;
    if (text[at] == '\0') ++at;
    char* slash = nullptr;
    u32 instance = static_cast<u32>(std::strtoul(text.c_str() + at + key.size(), &slash, 10));
    if (*slash != '/') continue;
    u32 transition = static_cast<u32>(std::strtoul(slash + 1, nullptr, 10));
    if (open.count({instance, transition}) && kill(pid, SIGKILL) == 0) ++killed;
  }
  closedir(proc);
  return killed;
}

[[noreturn]] void guard(int fd, const std::string& run) {
  setsid();  // so that a signal to the engine's group does not end it
  for (int s : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(s, SIG_IGN);
  prctl(PR_SET_NAME, "tutti-guard");
  std::map<Action, int> open;
  Record r;
  while (read_all(fd, &r, sizeof r)) {
    Action action{r.instance, r.transition};
    if (r.what == 'o') open[action] = 0;
    if (r.what == 's') open[action] = r.pid;
    if (r.what == 'e') open.erase(action);
    if (r.what == 'q') _exit(0);
  }
  // The engine is gone.
  for (const auto& [action, pid] : open)
    if (pid) kill(-pid, SIGKILL);
  for (int round = 0; !open.empty() && round < 50; ++round) {  // what forks while we look is seen in the next round
    if (kill_marked(run, open) == 0 && round > 0) break;
    timespec t{0, 2'000'000};
    nanosleep(&t, nullptr);
  }
  _exit(0);
}

}  // namespace

Guardian::Guardian(std::string run) : run_(std::move(run)) {
  if (run_.empty()) {
    u64 random[2] = {};
    [[maybe_unused]] ssize_t got = getrandom(random, sizeof random, 0);
    run_ = fmt::format("{:016x}{:016x}", random[0], random[1]);
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  pid_ = fork();
  if (pid_ == 0) {
    // Nothing of the engine's may stay open in here, above all not the pipes of whoever called us.
    dup2(ends[0], 3);
    int null = ::open("/dev/null", O_RDWR);
    for (int k = 0; k < 3; ++k) dup2(null, k);
    close_range(4, ~0U, 0);
    guard(3, run_);
  }
  close(ends[0]);
  pipe_ = ends[1];
}

Guardian::~Guardian() {
  if (pipe_ < 0) return;
  send('q', 0, 0, 0);
  close(pipe_);
  if (pid_ > 0)
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

std::string Guardian::mark(u32 instance, u32 transition) const {
  return fmt::format("{}/{}/{}", run_, instance, transition);
}
void Guardian::opening(u32 instance, u32 transition) { send('o', instance, transition, 0); }
void Guardian::started(u32 instance, u32 transition, int pid) { send('s', instance, transition, pid); }
void Guardian::ended(u32 instance, u32 transition) { send('e', instance, transition, 0); }

void Guardian::send(char what, u32 instance, u32 transition, int pid) {
  if (pipe_ < 0) return;
  Record r{};
  r.instance = instance;
  r.transition = transition;
  r.pid = pid;
  r.what = what;
  // Less than PIPE_BUF: written whole or not at all.
  while (write(pipe_, &r, sizeof r) < 0 && errno == EINTR) {
  }
}

}  // namespace tutti::engine
