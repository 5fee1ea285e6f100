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

#include "base/boundary.h"
#include "base/sandbox.h"
#include "base/terminal.h"
#include "lang/puppet/ruby/process.h"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace tutti::puppet {
namespace {

// The program and the pipe from it: whatever happens, neither is left behind.
struct Child {
  pid_t pid = -1;
  int from = -1;
  ~Child() {
    if (from >= 0) ::close(from);
    end_confined(pid);
  }
};

// Programs of facts and of generate() look at the machine, and change nothing of it.
Confinement confinement_of(const std::string& program) {
  Confinement c;
  Boundary* boundary = Boundary::in_force();
  c.readable = boundary != nullptr ? boundary->roots() : std::vector<std::string>{"/"};
  c.readable.push_back(program.substr(0, program.rfind('/') + 1));
  for (std::string& folder : ruby_library_folders()) c.readable.push_back(std::move(folder));
  c.reads_system = c.starts_programs = c.sees_network = true;
  c.memory = u64{2} << 30;
  if (boundary != nullptr) c.owner_of = boundary->projects().front();
  return c;
}

// What the user names (a classifier) is the user's own.
Result<HelperProcess> start_free(std::span<const std::string> words, int in, int out, int error,
                                 const std::string& directory) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  if (error != 2) posix_spawn_file_actions_adddup2(&actions, error, 2);
  if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  std::vector<std::string> kept(words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& w : kept) argv.push_back(w.data());
  argv.push_back(nullptr);
  HelperProcess started;
  int bad = ::posix_spawn(&started.pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (bad != 0) return failure(fmt::format("cannot run {}: {}", words[0], std::strerror(bad)), bad);
  return started;
}

}  // namespace

Result<ProgramRun> run_program(std::span<const std::string> words, const std::string& directory, bool take_errors,
                               const std::function<void()>& meanwhile, Confined how) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failure(fmt::format("cannot make a pipe: {}", std::strerror(errno)), errno);
  Child child;
  child.from = ends[0];
  int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int errors = take_errors ? ends[1] : error_descriptor_for_helpers();
  Result<HelperProcess> started = how == Confined::kNo
                                      ? start_free(words, nothing, ends[1], errors, directory)
                                      : start_confined({words.begin(), words.end()}, {nothing, ends[1], errors},
                                                       directory, confinement_of(words[0]));
  ::close(nothing);
  ::close(ends[1]);
  if (!started) return tl::unexpected<Failure>(started.error());
  child.pid = started->pid;
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
