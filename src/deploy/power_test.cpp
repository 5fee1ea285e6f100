// The power goes while a system is being changed. SQLite runs on a layer that notes every write and every sync; then,
// for each moment of the run, the disk is put back to what a cut at that moment may have left: everything that was
// synced, and of the writes since then any part, down to single sectors. From there the run is taken up again: no
// action may be lost, and none done twice.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <mutex>
#include <random>

#include "base/file.h"
#include "deploy/disk_layer.h"
#include "deploy/testing.h"
#include "format/yaml.h"

namespace tutti::deploy {
namespace {

namespace fs = std::filesystem;

i64 now_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<i64>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

struct Noted : DiskEvent {
  i64 at = 0;
};
std::mutex g_mutex;
std::vector<Noted> g_events;

int note(const DiskEvent& e) {
  std::lock_guard lock(g_mutex);
  g_events.push_back({e, now_ns()});
  return SQLITE_OK;
}

// ---- what a cut may leave

using Disk = std::map<std::string, std::string>;

void put(std::string& content, u64 offset, std::string_view bytes) {
  if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
  content.replace(offset, bytes.size(), bytes);
}

Disk disk_after(std::size_t events, std::mt19937& random) {
  Disk safe;
  std::map<std::string, std::vector<const Noted*>> since;
  for (std::size_t i = 0; i < events; ++i) {
    const Noted& e = g_events[i];
    if (e.kind == DiskEvent::Kind::kDelete) {
      safe.erase(e.file);
      since.erase(e.file);
    } else if (e.kind != DiskEvent::Kind::kSync) {
      since[e.file].push_back(&e);
    } else {
      for (auto* w : since[e.file])
        w->kind == DiskEvent::Kind::kWrite ? put(safe[e.file], w->offset, w->bytes) : safe[e.file].resize(w->offset);
      since[e.file].clear();
    }
  }
  for (auto& [file, writes] : since)
    for (auto* w : writes) {
      if (w->kind == DiskEvent::Kind::kTruncate) {
        if (random() % 2) safe[file].resize(w->offset);
        continue;
      }
      for (u64 at = 0; at < w->bytes.size(); at += 512)  // each sector came down or did not
        if (random() % 2) put(safe[file], w->offset + at, std::string_view(w->bytes).substr(at, 512));
    }
  return safe;
}

struct Call : OneCall {
  // What is put back is a copy.
  explicit Call(const std::string& dir) : OneCall(dir, true) {
    // This process lives on where the real one would be dead.
    EXPECT_TRUE(record->store->break_lock("s"));
  }
  Outcome apply(const std::string& text) {
    auto source = session.sources->add("system.yaml", text);
    auto tree = read_yaml(session, **source);
    auto p = deployer->prepare(*tree, "", "apply");
    return deployer->run(*p, settings);
  }
};

TEST(PowerLoss, AtAnyMomentNothingIsLostAndNothingDoneTwice) {
  char name[] = "/tmp/tutti-power-XXXXXX";
  std::string dir = ::mkdtemp(name), out = dir + "/out";
  fs::create_directories(out);
  // Jobs that nobody can look at from outside; each writes a line every time it is done.
  std::string text = "system: s\ncomponents:\n";
  std::vector<std::string> jobs{"a", "b", "c", "d", "e", "f"};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    text += "  " + jobs[i] + ": {type: job, config: {command: 'echo x >> " + out + "/" + jobs[i] + "; date +%s%N > " +
            out + "/" + jobs[i] + ".time'}";
    text += i >= 2 ? ", after: [" + jobs[i - 2] + "]}\n" : "}\n";
  }
  {
    DiskLayer layer(note);
    Call c(dir);
    Outcome o = c.apply(text);
    EXPECT_TRUE(o.finished) << o.wrong;
  }
  ASSERT_GT(g_events.size(), 40u);
  std::string key = *read_file(dir + "/.tutti/key", 1 << 20);
  std::map<std::string, i64> done_at;
  for (auto& j : jobs) {
    // Told by the job itself: the time of a file is only good to some milliseconds.
    auto time = read_file(out + "/" + j + ".time", 100);
    ASSERT_TRUE(time);
    done_at[j] = std::strtoll(time->c_str(), nullptr, 10);
  }
  const char* wish = std::getenv("TUTTI_POWER_POINTS");
  std::size_t points = wish ? std::strtoul(wish, nullptr, 10) : 60, resumed = 0, asked = 0;
  std::mt19937 random(11);
  for (std::size_t k = 0; k < points; ++k) {
    std::size_t at = points >= g_events.size() * 2 ? k % (g_events.size() + 1) : random() % (g_events.size() + 1);
    i64 when = at < g_events.size() ? g_events[at].at : now_ns();
    fs::remove_all(dir);
    fs::create_directories(out);
    fs::create_directories(dir + "/.tutti");
    ::chmod((dir + "/.tutti").c_str(), 0700);
    ASSERT_TRUE(write_file_atomically(dir + "/.tutti/key", key));
    ::chmod((dir + "/.tutti/key").c_str(), 0600);
    for (auto& [file, content] : disk_after(at, random)) ASSERT_TRUE(write_file_atomically(file, content));
    for (auto& [job, time] : done_at) {
      if (time >= when) continue;
      ASSERT_TRUE(write_file_atomically(out + "/" + job, "x\n"));
    }
    {
      Call c(dir);
      i64 run = c.deployer->unfinished("s");
      if (run) {
        ++resumed;
        Outcome o = c.deployer->resume(run, c.settings);
        if (o.unknown) {  // the one who looks says what is so
          ++asked;
          Call again(dir);
          for (auto& j : jobs) again.settings.decisions[j + ".perform"] = fs::exists(out + "/" + j) ? "done" : "repeat";
          o = again.deployer->resume(run, again.settings);
        }
        ASSERT_TRUE(o.finished) << "cut at " << at << ": " << o.wrong;
      } else {
        Outcome o = c.apply(text);
        ASSERT_TRUE(o.wrong.empty()) << "cut at " << at << ": " << o.wrong;
      }
    }
    for (auto& j : jobs) {
      auto content = read_file(out + "/" + j, 1000);
      ASSERT_TRUE(content) << "cut at " << at << ": " << j << " is lost";
      ASSERT_EQ(*content, "x\n") << "cut at " << at << ": " << j << " was done more than once";
    }
  }
  EXPECT_GT(resumed, 0u);
  std::printf("%zu writes and syncs, %zu cuts, %zu taken up again, %zu asked\n", g_events.size(), points, resumed,
              asked);
  fs::remove_all(dir);
}

}  // namespace
}  // namespace tutti::deploy
