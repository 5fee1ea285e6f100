// The effects of `cmd`: processes, files, the terminal, the environment, HTTP.
#include "lang/cue/cli/tasks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "base/budget.h"
#include "base/file.h"
#include "base/pipe.h"
#include "base/terminal.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/cli/http.h"
#include "lang/cue/load/glob.h"

extern char** environ;

namespace tutti::cue {

namespace fs = std::filesystem;

namespace {

std::mutex terminal;

std::string listed(const std::vector<std::string>& args) {
  std::string out = "[";
  for (std::size_t i = 0; i < args.size(); ++i) out += (i ? " " : "") + go_quote(args[i]);
  return out + "]";
}

TaskOutput run_process(const TaskInput& t) {
  TaskOutput out;
  int in[2] = {-1, -1}, so[2] = {-1, -1}, se[2] = {-1, -1};
  auto make_pipe = [](int(&p)[2]) { return ::pipe2(p, O_CLOEXEC) == 0; };
  if (t.stdin_text) make_pipe(in);
  if (t.capture_out) make_pipe(so);
  if (t.capture_err) make_pipe(se);
  std::vector<char*> argv;
  for (const std::string& a : t.command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> env;
  for (const std::string& e : t.environment) env.push_back(const_cast<char*>(e.c_str()));
  env.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (in[0] >= 0) posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  if (so[1] >= 0) posix_spawn_file_actions_adddup2(&actions, so[1], 1);
  if (se[1] >= 0) posix_spawn_file_actions_adddup2(&actions, se[1], 2);
  if (!t.dir.empty()) posix_spawn_file_actions_addchdir_np(&actions, t.dir.c_str());
  pid_t pid = 0;
  std::fflush(stdout);
  int rc = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), t.has_environment ? env.data() : environ);
  posix_spawn_file_actions_destroy(&actions);
  for (int f : {in[0], so[1], se[1]})
    if (f >= 0) ::close(f);
  std::string failure, stdout_text, stderr_text;
  if (rc != 0) {
    failure = rc == ENOENT ? fmt::format("exec: {}: executable file not found in $PATH", go_quote(t.command[0]))
                           : std::strerror(rc);
    for (int f : {in[1], so[0], se[0]})
      if (f >= 0) ::close(f);
    stderr_text = failure;
  } else {
    std::size_t written = 0;
    pollfd fds[3] = {{in[1], POLLOUT, 0}, {so[0], POLLIN, 0}, {se[0], POLLIN, 0}};
    if (in[1] >= 0) ::fcntl(in[1], F_SETFL, O_NONBLOCK);
    while (fds[0].fd >= 0 || fds[1].fd >= 0 || fds[2].fd >= 0) {
      if (::poll(fds, 3, -1) < 0 && errno != EINTR) break;
      if (fds[0].fd >= 0 && fds[0].revents) {
        ssize_t n = written < t.stdin_text->size()
                        ? write_unless_gone(fds[0].fd, std::string_view(*t.stdin_text).substr(written))
                        : 0;
        if (n > 0) written += static_cast<std::size_t>(n);
        if (written >= t.stdin_text->size() || (n < 0 && errno != EAGAIN)) {
          ::close(fds[0].fd);
          fds[0].fd = -1;
        }
      }
      for (int i = 1; i < 3; ++i) {
        if (fds[i].fd < 0 || !fds[i].revents) continue;
        char buffer[65536];
        ssize_t n = ::read(fds[i].fd, buffer, sizeof buffer);
        if (n > 0)
          (i == 1 ? stdout_text : stderr_text).append(buffer, static_cast<std::size_t>(n));
        else {
          ::close(fds[i].fd);
          fds[i].fd = -1;
        }
      }
    }
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status))
      failure = fmt::format("signal: {}", strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
      failure = fmt::format("exit status {}", WEXITSTATUS(status));
  }
  if (t.capture_out) out.strings["stdout"] = stdout_text;
  out.bools["success"] = failure.empty();
  if (failure.empty()) {
    if (t.capture_err) out.strings["stderr"] = stderr_text;
    return out;
  }
  if (t.capture_err) out.strings["stderr"] = stderr_text;
  if (t.must_succeed) out.error = fmt::format("command {} failed: {}", listed(t.command), failure);
  return out;
}

std::string refused(const char* what, const std::string& path) {
  return fmt::format(
      "{} {}: {}", what, path, std::strerror(errno) == nullptr ? "" : [] {
        std::string s = std::strerror(errno);
        if (!s.empty()) s[0] = static_cast<char>(std::tolower(s[0]));
        return s;
      }());
}

}  // namespace

TaskOutput run_task(const TaskInput& t) {
  TaskOutput out;
  const std::string& k = t.kind;
  if (k == "tool/exec.Run") return run_process(t);
  if (k == "tool/http.Do") try {
      return run_http(t);
    } catch (const LimitError& e) {
      out.error = e.what();
      return out;
    }
  if (k == "tool/cli.Print") {
    std::lock_guard lock(terminal);
    print_to(stdout, t.text + "\n");
  } else if (k == "tool/cli.Ask") {
    std::lock_guard lock(terminal);
    if (!t.text.empty()) print_to(stdout, t.text + " ");
    std::string line;
    for (int c; (c = std::getchar()) != EOF && c != '\n';) line += static_cast<char>(c);
    if (t.as_bool) {
      for (char& c : line) c = static_cast<char>(std::tolower(c));
      out.bools["response"] = line == "yes";
    } else {
      out.strings["response"] = line;
    }
  } else if (k == "tool/file.Read") {
    if (!fs::exists(t.filename)) {
      out.error = fmt::format("open {}: no such file or directory", t.filename);
    } else if (Result<std::string> r = read_file(t.filename, u64{1} << 30); r) {
      (t.as_string ? out.strings : out.bytes)["contents"] = *r;
    } else {
      out.error = r.error().message;
    }
  } else if (k == "tool/file.Create" || k == "tool/file.Append") {
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (k == "tool/file.Append" ? O_APPEND : O_TRUNC);
    int f = ::open(t.filename.c_str(), flags, static_cast<mode_t>(t.permissions));
    if (f < 0) {
      out.error = refused("open", t.filename);
    } else {
      if (!write_whole(f, t.text)) out.error = refused("write", t.filename);
      ::close(f);
    }
  } else if (k == "tool/file.Symlink") {
    if (::symlink(t.target.c_str(), t.filename.c_str()) != 0)
      out.error = refused("symlink", t.target + " " + t.filename);
  } else if (k == "tool/file.Glob") {
    if (std::string_view wrong = glob_problem(t.filename); !wrong.empty())
      out.error = wrong;
    else
      out.lists["files"] = glob_files(t.filename, true);
  } else if (k == "tool/file.Mkdir") {
    std::error_code ec;
    if (t.parents) {
      fs::create_directories(t.filename, ec);
      if (ec) out.error = fmt::format("failed to create directory: mkdir {}: {}", t.filename, ec.message());
    } else if (!fs::is_directory(t.filename, ec)) {
      if (::mkdir(t.filename.c_str(), static_cast<mode_t>(t.permissions)) != 0)
        out.error = "failed to create directory: " + refused("mkdir", t.filename);
    }
  } else if (k == "tool/file.MkdirTemp") {
    std::string base = t.dir.empty() ? fs::temp_directory_path().string() : t.dir;
    std::string pattern = t.target;
    std::size_t star = pattern.rfind('*');
    std::string path = base + "/" + (star == std::string::npos ? pattern : pattern.substr(0, star)) + "XXXXXX";
    std::string tail = star == std::string::npos ? "" : pattern.substr(star + 1);
    if (!::mkdtemp(path.data())) {
      out.error = "failed to create temporary directory: " + refused("mkdir", path);
    } else {
      if (!tail.empty() && ::rename(path.c_str(), (path + tail).c_str()) == 0) path += tail;
      out.strings["path"] = path;
    }
  } else if (k == "tool/file.RemoveAll") {
    std::error_code ec;
    bool there = fs::exists(fs::symlink_status(t.filename, ec));
    if (there) fs::remove_all(t.filename, ec);
    if (there && ec)
      out.error = fmt::format("failed to remove path: {}", ec.message());
    else
      out.bools["success"] = there;
  } else if (k == "tool/os.Getenv" || k == "tool/os.Environ") {
    for (const auto& [name, want] : t.names)
      if (const char* v = ::getenv(name.c_str())) (want == "number" ? out.numbers : out.strings)[name] = v;
    if (k == "tool/os.Environ")
      for (char** e = environ; *e; ++e) {
        std::string s = *e;
        std::size_t eq = s.find('=');
        if (eq != std::string::npos && eq > 0 && s[0] != '$' && !out.numbers.count(s.substr(0, eq)))
          out.strings[s.substr(0, eq)] = s.substr(eq + 1);
      }
  } else if (k == "tool/os.Setenv") {
    for (const auto& [name, value] : t.names) ::setenv(name.c_str(), value.c_str(), 1);
  } else if (k == "tool/os.Clearenv") {
    ::clearenv();
  } else {
    out.error = fmt::format("runner of kind {} not found", go_quote(k));
  }
  return out;
}

}  // namespace tutti::cue
