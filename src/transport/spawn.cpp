#include "transport/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace tutti {
namespace {

// Where execvp would find it; "" when nowhere.
std::string locate(const std::string& program, const std::string& search) {
  if (program.find('/') != std::string::npos) return program;
  std::string path = search;
  if (path.empty()) {
    const char* p = std::getenv("PATH");
    path = p ? p : "/usr/local/bin:/usr/bin:/bin";
  }
  std::size_t at = 0;
  while (at <= path.size()) {
    std::size_t end = path.find(':', at);
    if (end == std::string::npos) end = path.size();
    std::string full = path.substr(at, end - at) + "/" + program;
    struct stat st {};
    if (::stat(full.c_str(), &st) == 0 && S_ISREG(st.st_mode) && ::access(full.c_str(), X_OK) == 0) return full;
    at = end + 1;
  }
  return "";
}

std::mutex g_limit_mutex;
bool g_raised = false;    // by us
rlimit g_limit_before{};  // what our children get

const char* kStage[] = {"", "cannot change to directory", "cannot become the user", "cannot run"};

}  // namespace

u64 raise_descriptor_limit(u64 wanted) {
  std::lock_guard lock(g_limit_mutex);
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return 0;
  u64 most = now.rlim_max == RLIM_INFINITY ? wanted : std::min<u64>(now.rlim_max, wanted);
  if (now.rlim_cur != RLIM_INFINITY && now.rlim_cur < most) {
    rlimit more{most, now.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &more) == 0) {
      if (!g_raised) g_limit_before = now;
      g_raised = true;
      now = more;
    }
  }
  return now.rlim_cur;
}

Result<pid_t> spawn(const SpawnSpec& spec) {
  if (spec.argv.empty()) return failure("no program to run");
  std::string program = locate(spec.argv[0], spec.search);
  if (program.empty()) return failure(fmt::format("cannot find program {}", spec.argv[0]), ENOENT);

  std::vector<char*> argv, envp;
  for (auto& a : spec.argv) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  for (auto& e : spec.environment) envp.push_back(const_cast<char*>(e.c_str()));
  envp.push_back(nullptr);
  int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const volatile int in = spec.in >= 0 ? spec.in : null;
  const volatile int out = spec.out >= 0 ? spec.out : null;
  const volatile int err = spec.err >= 0 ? spec.err : null;
  constexpr unsigned kMostAlso = 4;
  const volatile unsigned also = static_cast<unsigned>(std::min<std::size_t>(spec.also.size(), kMostAlso));
  pid_t parent = ::getpid();

  g_limit_mutex.lock();
  const volatile bool lower = g_raised;
  rlimit limit = g_limit_before;
  g_limit_mutex.unlock();
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  volatile int stage = 0, code = 0;  // written by the child, in our memory
  pid_t pid = ::vfork();
  if (pid == 0) {
    if (spec.session)
      ::setsid();
    else
      ::setpgid(0, 0);
    if (spec.dies_with_us) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(127);
    }
    for (int s = 1; s < NSIG; ++s)
      if (s != SIGKILL && s != SIGSTOP) {
        struct sigaction dfl {};
        dfl.sa_handler = SIG_DFL;
        ::sigaction(s, &dfl, nullptr);
      }
    // Through high numbers, so that a descriptor that already is 0, 1 or 2 is not overwritten before it is used.
    int a = ::fcntl(in, F_DUPFD, 10), b = ::fcntl(out, F_DUPFD, 10), c = ::fcntl(err, F_DUPFD, 10);
    int more[kMostAlso];
    for (unsigned i = 0; i < also; ++i) more[i] = ::fcntl(spec.also[i], F_DUPFD, 10);
    ::dup2(a, 0);
    ::dup2(b, 1);
    ::dup2(c, 2);
    for (unsigned i = 0; i < also; ++i) ::dup2(more[i], static_cast<int>(3 + i));
    ::close_range(3 + also, ~0U, 0);
    if (lower) ::setrlimit(RLIMIT_NOFILE, &limit);
    if (spec.umask >= 0) ::umask(static_cast<mode_t>(spec.umask));
    if (spec.change_user) {
      // The bare system calls: glibc's wrappers would change every thread of the program whose memory we share.
      if (::syscall(SYS_setgroups, spec.groups.size(), spec.groups.data()) != 0 ||
          ::syscall(SYS_setresgid, spec.gid, spec.gid, spec.gid) != 0 ||
          ::syscall(SYS_setresuid, spec.uid, spec.uid, spec.uid) != 0) {
        stage = 2;
        code = errno;
        ::_exit(127);
      }
    }
    if (!spec.cwd.empty() && ::chdir(spec.cwd.c_str()) != 0) {
      stage = 1;
      code = errno;
      ::_exit(127);
    }
    sigset_t none;
    sigemptyset(&none);  // what our threads keep away from themselves is not the child's concern
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(program.c_str(), argv.data(), envp.data());
    stage = 3;
    code = errno;
    ::_exit(127);
  }
  int fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (null >= 0) ::close(null);
  if (pid < 0) return failure(fmt::format("cannot start a process: {}", std::strerror(fork_error)), fork_error);
  if (stage != 0) {
    int failed_stage = stage, failed_code = code, status = 0;
    ::waitpid(pid, &status, 0);
    std::string what = failed_stage == 1 ? spec.cwd : program;
    if (failed_stage == 2) what = fmt::format("{} for {}", spec.uid, program);
    return failure(fmt::format("{} {}: {}", kStage[failed_stage], what, std::strerror(failed_code)), failed_code);
  }
  return pid;
}

u64 process_birth(pid_t pid) {
  std::string path = fmt::format("/proc/{}/stat", pid);
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char buffer[1024];
  ssize_t n = ::read(fd, buffer, sizeof buffer - 1);
  ::close(fd);
  if (n <= 0) return 0;
  std::string_view text(buffer, static_cast<std::size_t>(n));
  std::size_t at = text.rfind(')');  // the name may hold anything, parentheses too
  if (at == std::string_view::npos || at + 2 >= text.size()) return 0;
  if (text[at + 2] == 'Z' || text[at + 2] == 'X') return 0;
  int field = 2;
  for (++at; at < text.size(); ++at) {
    if (text[at] != ' ') continue;
    if (++field == 22) {
      u64 birth = 0;
      std::from_chars(text.data() + at + 1, text.data() + text.size(), birth);
      return birth;
    }
  }
  return 0;
}

}  // namespace tutti
