// Hosts are looked at side by side: each look waits here until all hosts are being looked at, which one after the other
// they never would be.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "deploy/testing.h"

namespace tutti::deploy {
namespace {

class Drifting : public InFolder {};

TEST_F(Drifting, HostsAreLookedAtSideBySide) {
  constexpr std::size_t kHosts = 5;
  OneCall c(dir);
  engine::Recorded recorded;
  TreeBuilder b(c.session.arena);
  for (std::size_t i = 0; i < 2 * kHosts; ++i) {
    engine::RecordedComponent r;
    r.name = fmt::format("c{}", i);
    r.type = "resource";
    r.host = Symbol(fmt::format("h{}", i % kHosts));
    std::vector<Entry> parameters{{Symbol("content"), Field::kPlain, b.string("x")}};
    std::vector<Entry> config{{Symbol("type"), Field::kPlain, b.string("File")},
                              {Symbol("title"), Field::kPlain, b.string(fmt::format("{}/f{}", dir, i))},
                              {Symbol("parameters"), Field::kPlain, b.map(parameters)}};
    r.config = b.map(config);
    recorded.order.push_back(r.name);
    recorded.components.emplace(r.name, r);
  }
  std::mutex mutex;
  std::condition_variable all;
  std::set<Symbol> met;
  bool together = true;
  c.settings.executor.host = [&](Symbol host) {
    std::unique_lock lock(mutex);
    met.insert(host);
    all.notify_all();
    together = all.wait_for(lock, std::chrono::seconds(20), [&] { return met.size() == kHosts; }) && together;
    return c.host.get();
  };
  auto found = look_for_drift(recorded, c.settings.executor);
  EXPECT_TRUE(together);
  ASSERT_EQ(found.size(), 2 * kHosts);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].component, fmt::format("c{}", i));  // in order
}

}  // namespace
}  // namespace tutti::deploy
