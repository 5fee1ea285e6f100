#include "engine/report/progress.h"

#include <gtest/gtest.h>

#include "engine/run/simulate.h"
#include "engine/testing/use_cases.h"

namespace tutti::engine {
namespace {

struct Seen : Display {
  void line(const std::string&) override {}
  void status(const std::string& text) override { all += text + "\n"; }
  std::string all;
};

// The server is down again a moment after the start, and then waits for a long time in which nothing happens.
TEST(Progress, SaysWhoWaitsAlsoWhenThatBeginsJustAfterSomethingElse) {
  UseCase c;
  c.n = 1;
  c.di = c.sc = c.ss = c.sp = {0.01};
  c.dr = c.du = {10};
  model::System system = c.system(UseCase::Kind::kUpdateWithServer);
  Seen seen;
  {
    Progress progress(system, seen, {.live = true, .columns = 300});
    SimulatedExecutor executor;
    Runner(system, executor, {}, nullptr, &progress).run();
  }
  EXPECT_NE(seen.all.find("| server cannot enter"), std::string::npos) << seen.all;
}

}  // namespace
}  // namespace tutti::engine
