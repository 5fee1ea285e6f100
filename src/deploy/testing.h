#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "deploy/deployer.h"
#include "format/yaml.h"

namespace tutti::deploy {

// For tests: a folder of its own for each, and what kills a call in the middle.
class InFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tutti-deploy-XXXXXX";
    dir = ::mkdtemp(name);
    std::filesystem::create_directories(dir + "/out");
  }
  void TearDown() override { std::filesystem::remove_all(dir); }

  // Runs `work` in a process that is killed after so many microseconds; false when it was done before.
  template <class Work>
  bool killed_after(useconds_t time, Work work) {
    return killed([&] { ::usleep(time); }, work);
  }
  // The same once a file is there.
  template <class Work>
  bool killed_once(const std::string& file, Work work) {
    return killed(
        [&] {
          for (int k = 0; k < 6000 && !std::filesystem::exists(file); ++k) ::usleep(10000);
        },
        work);
  }

  std::string dir;

 private:
  template <class Wait, class Work>
  bool killed(Wait wait, Work work) {
    pid_t child = ::fork();
    if (child == 0) {
      int null = ::open("/dev/null", O_WRONLY);
      ::dup2(null, 2);
      work();
      ::_exit(0);
    }
    wait();
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status);
  }
};

// One call of the program: a session and a place of its own.
struct OneCall {
  explicit OneCall(const std::string& where, bool adopt = false) : host(here()) {
    auto p = open_record(where + "/.tutti", adopt);
    EXPECT_TRUE(p) << p.error().message;
    record.emplace(std::move(*p));
    deployer.emplace(session, *record);
    settings.executor.home = where + "/.tutti";
    settings.executor.host = [this](Symbol) { return host.get(); };
    settings.command = "test";
  }
  OneCall(const OneCall&) = delete;
  OneCall& operator=(const OneCall&) = delete;

  std::string trouble() { return render(session.diagnostics, *session.sources, DiagnosticStyle::kLine, false); }

  std::unique_ptr<Host> host;
  Session session;
  std::optional<Record> record;
  std::optional<Deployer> deployer;
  RunSettings settings;
};

// For tests: systems that are written as text, planned and applied.
class Deploy : public InFolder {
 protected:
  struct Call : OneCall {
    using OneCall::OneCall;
    std::optional<Prepared> prepare(const std::string& text, const engine::PlanOptions& options = {}) {
      auto source = session.sources->add("system.yaml", text);
      auto tree = read_yaml(session, **source);
      if (!tree) return std::nullopt;
      return deployer->prepare(*tree, "", "apply", options);
    }
  };

  // Where the pid file of a process is kept, by its system.
  std::string process_file(const std::string& name) {
    for (const auto& e : std::filesystem::directory_iterator(dir + "/.tutti/process"))
      if (std::filesystem::exists(e.path() / (name + ".pid"))) return e.path() / (name + ".pid");
    return {};
  }

  Outcome apply(const std::string& text) {
    Call c(dir);
    auto p = c.prepare(text);
    EXPECT_TRUE(p) << c.trouble();
    if (!p) return {};
    Check check = c.deployer->check(*p);
    std::string why;
    for (auto& t : check.trouble) why += t + "\n";
    EXPECT_TRUE(check.safe) << why;
    return c.deployer->run(*p, c.settings);
  }
  std::vector<std::string> program(const std::string& text) {
    Call c(dir);
    auto p = c.prepare(text);
    EXPECT_TRUE(p) << c.trouble();
    std::vector<std::string> out;
    if (p)
      for (auto& i : p->program.system.program) out.push_back(p->program.system.instruction_text(i));
    return out;
  }
  static bool has(const std::vector<std::string>& program, const std::string& line) {
    return std::find(program.begin(), program.end(), line) != program.end();
  }

  // A job that can be done only once: done again it fails.
  std::string job(const std::string& name, const std::string& more = "") {
    return "  " + name + ":\n    type: job\n    config: {command: \"mkdir " + dir + "/out/" + name +
           "\", check: \"test -d " + dir + "/out/" + name + "\"}\n" + more;
  }
  bool done(const std::string& name) { return std::filesystem::is_directory(dir + "/out/" + name); }
};

}  // namespace tutti::deploy
