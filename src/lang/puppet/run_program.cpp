#include "lang/puppet/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace tutti::puppet {
namespace {

// The program and the pipe from it: whatever happens, neither is left behind.
struct Child {
  pid_t pid = -1;
  int from = -1;
  ~Child() {
    if (from >= 0) ::close(from);
    if (pid < 0) return;
    ::kill(pid, SIGKILL);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  }
};

}  // namespace

Result<ProgramRun> run_program(std::span<const std::string> words, const std::string& directory, bool take_errors,
                               const std::function<void()>& meanwhile) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failure(fmt::format("cannot make a pipe: {}", std::strerror(errno)), errno);
  Child child;
  child.from = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  if (take_errors) posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  std::vector<std::string> kept(words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& w : kept) argv.push_back(w.data());
  argv.push_back(nullptr);
  int bad = ::posix_spawn(&child.pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (bad != 0) {
    child.pid = -1;
    return failure(fmt::format("cannot run {}: {}", words[0], std::strerror(bad)), bad);
  }
  ProgramRun run;
  for (;;) {
    pollfd waiting{child.from, POLLIN, 0};
    int ready = ::poll(&waiting, 1, 100);
    if (ready == 0 && meanwhile) meanwhile();
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    char block[65536];
    ssize_t n = ::read(child.from, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    run.output.append(block, static_cast<std::size_t>(n));
  }
  while (::waitpid(child.pid, &run.status, 0) < 0 && errno == EINTR) continue;
  child.pid = -1;
  return run;
}

}  // namespace tutti::puppet
