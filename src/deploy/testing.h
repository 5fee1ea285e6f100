#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "deploy/deployer.h"

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

}  // namespace tutti::deploy
