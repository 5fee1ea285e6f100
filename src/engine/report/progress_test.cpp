#include "engine/report/progress.h"

#include <gtest/gtest.h>

#include "engine/testing/use_cases.h"

namespace tutti::engine {
namespace {

struct Seen : Display {
  void line(const std::string&) override {}
  void status(const std::string& text) override { all += text + "\n"; }
  std::string all;
};

// A dependency cannot be updated as long as the server uses it. Nothing more may happen for a long time, so it is said
// the first time that there is to wait, however short the time since somebody last asked.
TEST(Progress, SaysWhoWaitsAsSoonAsSomebodyDoes) {
  UseCase c;
  c.n = 1;
  c.di = c.dr = c.du = c.sc = c.ss = c.sp = {10};
  model::System system = c.system(UseCase::Kind::kUpdateWithServer);
  Scheduler before(system), after(system);
  after.begin();
  Seen seen;
  Progress progress(system, seen, {.live = true, .columns = 300});
  progress.idle(1.0, before);
  EXPECT_EQ(seen.all.find("cannot"), std::string::npos) << seen.all;
  progress.idle(1.2, after);
  EXPECT_NE(seen.all.find("| dep0 cannot leave running"), std::string::npos) << seen.all;
}

}  // namespace
}  // namespace tutti::engine
