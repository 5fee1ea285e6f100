#include "store/store.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/file.h"
#include "store/own_directory.h"
#include "store/seal.h"
#include "store/sqlite.h"

namespace tutti::store {
namespace {

class Stores : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tutti-store-XXXXXX";
    dir = ::mkdtemp(name);
    store = open();
  }
  void TearDown() override { std::filesystem::remove_all(dir); }
  std::unique_ptr<Store> open() {
    auto s = open_sqlite(dir + "/.tutti/state.db");
    EXPECT_TRUE(s) << s.error().message;
    return std::move(*s);
  }
  Holder somebody(std::string host = "elsewhere") { return {host, "u", "apply", 1, 1, "", "", ""}; }
  RunRecord a_run(i64 serial = 0) {
    RunRecord r;
    r.kind = "apply";
    r.base_serial = serial;
    r.base_state = "{}";
    r.plan = "{\"p\":1}";
    return r;
  }
  std::string dir;
  std::unique_ptr<Store> store;
};

TEST(Seal, SignsSoThatNobodyElseCan) {
  Seal mine = Seal::with_key(std::string(32, 'a')), other = Seal::with_key(std::string(32, 'b'));
  EXPECT_EQ(mine.sign("text"), mine.sign("text"));
  EXPECT_NE(mine.sign("text"), mine.sign("texts"));
  EXPECT_NE(mine.sign("text"), other.sign("text"));
}

TEST_F(Stores, ARunIsRememberedWithItsJournalAndState) {
  auto lease = store->acquire("shop", somebody(), 30);
  ASSERT_TRUE(lease);
  auto id = store->begin(*lease, a_run());
  ASSERT_TRUE(id) << id.error().message;
  Entry start;
  start.kind = Entry::Kind::kStart;
  start.name = "db/start";
  Entry end = start;
  end.kind = Entry::Kind::kEnd;
  end.how = "ok";
  end.outputs = "{\"port\":\"1\"}";
  ASSERT_TRUE(store->append(*lease, *id, std::vector{start}));
  ASSERT_TRUE(store->append(*lease, *id, std::vector{end}));
  ASSERT_TRUE(store->finish(*lease, *id, "done", "1 added", "{\"s\":1}"));
  ASSERT_TRUE(store->release(*lease));

  auto again = open();
  auto entries = again->entries(*id);
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].sequence, 1);
  EXPECT_EQ((*entries)[1].outputs, "{\"port\":\"1\"}");
  auto system = again->system("shop");
  ASSERT_TRUE(system && *system);
  EXPECT_EQ((*system)->serial, 1);
  EXPECT_EQ((*system)->state, "{\"s\":1}");
  EXPECT_EQ((*again->run(*id))->plan, "{\"p\":1}");
  EXPECT_EQ((*again->runs("shop", 10))[0].status, "done");
  EXPECT_EQ(again->systems()->size(), 1u);
}

TEST_F(Stores, ASecondHolderIsRefusedAndToldWhoHoldsIt) {
  ASSERT_TRUE(store->acquire("shop", somebody(), 30));
  auto second = open()->acquire("shop", somebody("third"), 30);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, kHeld);
  EXPECT_NE(second.error().message.find("u@elsewhere"), std::string::npos);
  EXPECT_TRUE(store->acquire("other", somebody(), 30));
}

TEST_F(Stores, AnExpiredLeaseIsTakenOverAndItsWritesRefused) {
  auto first = store->acquire("shop", somebody(), -1);
  ASSERT_TRUE(first);
  auto run = store->begin(*first, a_run());
  ASSERT_TRUE(run);
  auto second = store->acquire("shop", somebody("third"), 30);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_GT(second->fence, first->fence);
  auto late = store->append(*first, *run, std::vector{Entry{}});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, kFenced);
  EXPECT_EQ(store->renew(*first).error().code, kFenced);
  EXPECT_EQ(store->finish(*first, *run, "done", "", "{}").error().code, kFenced);
  EXPECT_TRUE(store->append(*second, *run, std::vector{Entry{}}));
  ASSERT_TRUE(store->release(*first));  // does nothing: it is no longer its to give back
  EXPECT_TRUE(store->renew(*second));
}

TEST_F(Stores, AHolderThatWasKilledIsNotWaitedFor) {
  pid_t child = ::fork();
  if (child == 0) {
    auto s = open_sqlite(dir + "/.tutti/state.db");
    auto lease = (*s)->acquire("shop", this_process("apply"), 3600);
    if (!lease) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(store->acquire("shop", this_process("resume"), 30));
  EXPECT_EQ(open()->acquire("shop", this_process("apply"), 30).error().code, kHeld);  // we live
}

// A name and a number are not enough: what can be seen of a holder is decided by the kernel and the namespaces it said.
TEST_F(Stores, WhoLivesIsSeenOrNotKnown) {
  Holder me = this_process("apply");
  ASSERT_FALSE(me.boot.empty());
  EXPECT_EQ(life_of(me), Life::kAlive);
  std::vector<char> grown(u64{64} << 20, 'x');
  EXPECT_EQ(life_of(me), Life::kAlive) << "whatever else changes of a process";
  auto but = [&](auto change) {
    Holder h = me;
    change(h);
    return life_of(h);
  };
  EXPECT_EQ(but([](Holder& h) { h.birth += 1; }), Life::kGone) << "another process of that number";
  EXPECT_EQ(but([](Holder& h) { h.host = "renamed"; }), Life::kAlive);
  EXPECT_EQ(but([](Holder& h) { h.space = "pid:[1] time:[1]", h.birth += 1; }), Life::kUnknown)
      << "another container of this machine";
  EXPECT_EQ(but([](Holder& h) { h.boot = "x", h.machine = "another"; }), Life::kUnknown);
  EXPECT_EQ(but([](Holder& h) { h.boot = "x", h.machine = ""; }), Life::kUnknown);
  EXPECT_EQ(but([](Holder& h) { h.boot = "", h.birth += 1; }), Life::kUnknown) << "an older tutti did not say";
}

// In a container: the same machine and name, and nobody there sees our processes, nor we theirs.
TEST_F(Stores, AHolderInAnotherPidNamespaceIsNotTakenForDead) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  int ready[2], over[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(over), 0);
  pid_t outer = ::fork();
  if (outer == 0) {
    if (::unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) ::_exit(7);
    pid_t inner = ::fork();
    if (inner == 0) {
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
      if (::mount("proc", "/proc", "proc", 0, nullptr) != 0) ::_exit(7);
      auto s = open_sqlite(dir + "/.tutti/state.db");
      auto lease = (*s)->acquire("shop", this_process("apply"), 3600);
      char c = lease ? 'y' : 'n';
      if (::write(ready[1], &c, 1) != 1 || ::read(over[0], &c, 1) < 0) ::_exit(1);
      ::_exit(0);
    }
    ::close(ready[1]);
    int status = 0;
    ::waitpid(inner, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  ::close(ready[1]);
  char c = 0;
  bool told = ::read(ready[0], &c, 1) == 1;
  if (told) {
    EXPECT_EQ(c, 'y');
    auto lock = store->lock("shop");
    ASSERT_TRUE(lock && *lock);
    EXPECT_EQ((*lock)->holder.boot, this_process("").boot);
    EXPECT_EQ(life_of((*lock)->holder), Life::kUnknown);
    EXPECT_EQ(store->acquire("shop", this_process("resume"), 30).error().code, kHeld);
  }
  ASSERT_EQ(::write(over[1], &c, 1), 1);
  int status = 0;
  ::waitpid(outer, &status, 0);
  if (WEXITSTATUS(status) == 7) GTEST_SKIP() << "no namespaces here";
  EXPECT_TRUE(told);
}

// By the clock the lease has been over for ages; but its holder renews it, and that is what counts.
TEST_F(Stores, AClockThatIsAheadTakesNothing) {
  auto lease = store->acquire("shop", somebody(), 0.2);
  ASSERT_TRUE(lease);
  auto other = open();
  for (int k = 0; k < 20; ++k) {
    ASSERT_TRUE(store->renew(*lease));
    {
      Database db;
      ASSERT_TRUE(db.open(dir + "/.tutti/state.db"));
      ASSERT_TRUE(db.execute("UPDATE lock SET expires = 0"));
    }
    auto taken = other->acquire("shop", somebody("third"), 30);
    ASSERT_FALSE(taken);
    ASSERT_EQ(taken.error().code, kHeld);
  }
  // Nobody renews it any more.
  Result<Lease> taken = other->acquire("shop", somebody("third"), 30);
  for (int k = 0; !taken && k < 6000; ++k) {
    ::usleep(10000);
    taken = other->acquire("shop", somebody("third"), 30);
  }
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(store->renew(*lease).error().code, kFenced);
}

TEST_F(Stores, ALeaseFarInTheFutureIsBrokenByHand) {
  auto lease = store->acquire("shop", somebody(), 1e9);
  ASSERT_TRUE(lease);
  auto run = store->begin(*lease, a_run());
  auto other = open();
  EXPECT_EQ(other->acquire("shop", somebody("third"), 30).error().code, kHeld);
  auto broken = other->break_lock("shop");
  ASSERT_TRUE(broken && *broken);
  EXPECT_EQ((*broken)->holder.host, "elsewhere");
  EXPECT_EQ(store->append(*lease, *run, std::vector{Entry{}}).error().code, kFenced);
  EXPECT_TRUE(other->acquire("shop", somebody("third"), 30));
  EXPECT_FALSE(*other->break_lock("nobody"));
}

TEST_F(Stores, APlanAgainstAnotherStateIsRefused) {
  auto lease = store->acquire("shop", somebody(), 30);
  auto id = store->begin(*lease, a_run());
  ASSERT_TRUE(store->finish(*lease, *id, "done", "", "{}"));
  auto stale = store->begin(*lease, a_run(0));
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, kStale);
  EXPECT_TRUE(store->begin(*lease, a_run(1)));
}

TEST_F(Stores, DurationsAreLearnt) {
  for (double d : {1.0, 2.0, 3.0})
    ASSERT_TRUE(store->learn(std::vector{std::pair<std::string, double>{"db/start", d}}));
  auto l = store->learnt();
  ASSERT_TRUE(l);
  EXPECT_DOUBLE_EQ((*l)["db/start"].mean, 2.0);
  EXPECT_DOUBLE_EQ((*l)["db/start"].deviation, 1.0);
  EXPECT_EQ((*l)["db/start"].count, 3u);
}

TEST_F(Stores, AcknowledgedEntriesSurviveAKillAtAnyMoment) {
  for (int round = 0; round < 20; ++round) {
    std::string system = "s" + std::to_string(round);
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    pid_t child = ::fork();
    if (child == 0) {
      auto s = open_sqlite(dir + "/.tutti/state.db");
      auto lease = (*s)->acquire(system, this_process("apply"), 3600);
      auto run = (*s)->begin(*lease, a_run());
      for (u32 i = 0;; ++i) {
        Entry e;
        e.instance = i;
        if (!(*s)->append(*lease, *run, std::vector{e})) ::_exit(1);
        if (::write(pipe[1], &i, sizeof i) != sizeof i) ::_exit(1);
      }
    }
    ::close(pipe[1]);
    ::usleep(static_cast<useconds_t>(5000 + 3000 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    i64 acknowledged = -1;
    u32 i = 0;
    while (::read(pipe[0], &i, sizeof i) == sizeof i) acknowledged = i;
    ::close(pipe[0]);
    auto runs = store->runs(system, 1);
    ASSERT_TRUE(runs);
    if (runs->empty()) {
      EXPECT_EQ(acknowledged, -1);
      continue;
    }
    auto entries = store->entries((*runs)[0].id);
    ASSERT_TRUE(entries);
    EXPECT_GE(static_cast<i64>(entries->size()), acknowledged + 1);
    EXPECT_LE(static_cast<i64>(entries->size()), acknowledged + 2);
  }
}

// To SQLite a log that is gone, or cut short, is one that was never written.
TEST_F(Stores, ALogThatIsGoneOrCutShortIsNoticed) {
  for (int part : {0, 1, 2, 3}) {
    TearDown();
    SetUp();
    store.reset();
    pid_t child = ::fork();
    if (child == 0) {  // killed in the middle of a run
      auto s = open_sqlite(dir + "/.tutti/state.db");
      auto lease = (*s)->acquire("shop", somebody(), 3600);
      auto run = (*s)->begin(*lease, a_run());
      for (int k = 0; run && k < 20; ++k)
        if (!(*s)->append(*lease, *run, std::vector{Entry{}})) ::_exit(1);
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    std::string log = dir + "/.tutti/state.db-wal";
    ASSERT_TRUE(std::filesystem::exists(log));
    auto size = std::filesystem::file_size(log);
    if (part == 3) {
      EXPECT_EQ(open()->damage(), "") << "killed is not damaged";
      continue;
    }
    part == 0 ? std::filesystem::remove(log), void() : std::filesystem::resize_file(log, size * part / 3);
    auto left = open();
    EXPECT_NE(left->damage().find("changes"), std::string::npos) << part << ": " << left->damage();
    left.reset();
    EXPECT_NE(open()->damage(), "") << "looking mends nothing";
    auto adopted = open_sqlite(dir + "/.tutti/state.db", true);
    ASSERT_TRUE(adopted);
    EXPECT_EQ((*adopted)->damage(), "");
    EXPECT_EQ(open()->damage(), "");
  }
}

// Every byte of a database may change: what is read then is what was written, or is said to be damaged.
TEST_F(Stores, ABytesChangeIsNoticedOrDoesNothing) {
  auto whole = [&](Store& s) -> std::optional<std::string> {
    if (!s.damage().empty()) return std::nullopt;
    auto names = s.systems();
    auto system = s.system("shop");
    auto runs = s.runs("shop", 100);
    if (!names || !system || !*system || !runs) return std::nullopt;
    std::string all;
    for (auto& n : *names) all += n + "\n";
    all += (*system)->lineage + (*system)->state + std::to_string((*system)->serial) + "\n";
    for (auto& r : *runs) {
      auto run = s.run(r.id);
      auto entries = s.entries(r.id);
      if (r.damaged || !run || !*run || (*run)->damaged || !entries) return std::nullopt;
      all += (*run)->system + (*run)->status + (*run)->plan + (*run)->base_state + (*run)->wanted + "\n";
      for (auto& e : *entries) {
        if (e.damaged) return std::nullopt;
        all += std::to_string(e.sequence) + e.name + e.message + e.outputs + std::to_string(e.instance) + "\n";
      }
    }
    return all;
  };
  auto lease = store->acquire("shop", somebody(), 3600);
  for (int r = 0; r < 3; ++r) {
    RunRecord record = a_run(r);
    record.plan = "{\"plan\":\"" + std::string(300, 'p') + "\"}";
    auto id = store->begin(*lease, record);
    ASSERT_TRUE(id);
    Entry e;
    e.name = "db/start", e.message = "a message", e.outputs = "{\"port\":\"1\"}";
    ASSERT_TRUE(store->append(*lease, *id, std::vector{e, e, e}));
    if (r < 2) {
      ASSERT_TRUE(store->finish(*lease, *id, "done", "", "{\"state\":" + std::to_string(r) + "}"));
    }
  }
  auto before = whole(*store);
  ASSERT_TRUE(before);
  store.reset();
  std::string path = dir + "/.tutti/state.db";
  auto clean = read_file(path, u64{1} << 30);
  ASSERT_TRUE(clean);
  const char* wish = std::getenv("TUTTI_DAMAGE_POINTS");
  int points = wish ? std::atoi(wish) : 400, noticed = 0, nothing = 0;
  std::mt19937 random(5);
  for (int k = 0; k < points; ++k) {
    std::string bytes = *clean;
    std::size_t at = random() % bytes.size();
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);  // the file stays the same one
      file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    std::filesystem::remove(path + "-wal");
    std::filesystem::remove(path + "-shm");
    auto s = open_sqlite(path);
    auto now = s ? whole(**s) : std::nullopt;
    now ? ++nothing : ++noticed;
    if (now) {
      ASSERT_EQ(*now, *before) << "bit of byte " << at;
    }
    s = Result<std::unique_ptr<Store>>();
    std::filesystem::resize_file(path, clean->size());
  }
  std::printf("%d changes noticed, %d without effect\n", noticed, nothing);
  EXPECT_GT(noticed, 0);
}

// Nobody finds a stopped process by "database is locked".
TEST_F(Stores, AWriterThatDoesNotGoOnIsNamed) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  pid_t child = ::fork();
  if (child == 0) {
    Database db;
    if (!db.open(dir + "/.tutti/state.db") || !db.execute("BEGIN IMMEDIATE")) ::_exit(1);
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
  }
  char c = 0;
  ASSERT_EQ(::read(ready[0], &c, 1), 1);
  Database db;
  ASSERT_TRUE(db.open(dir + "/.tutti/state.db"));
  ASSERT_TRUE(db.execute("PRAGMA busy_timeout=0"));
  auto refused = db.execute("BEGIN IMMEDIATE");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("process " + std::to_string(child)), std::string::npos)
      << refused.error().message;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

// A full disk is called that, also where the database was then opened to be read.
TEST_F(Stores, AFullDiskIsCalledThat) {
  std::string path = dir + "/full.db";
  Database db;
  ASSERT_TRUE(db.open(path));
  ASSERT_TRUE(db.execute("CREATE TABLE t(x); PRAGMA max_page_count=4"));
  auto full = db.execute("INSERT INTO t VALUES(zeroblob(100000))");
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message.find("the disk is full"), std::string::npos) << full.error().message;
  EXPECT_EQ(full.error().code & 0xff, SQLITE_FULL);
  Database read;
  ASSERT_TRUE(read.open_to_read(path, full.error().message));
  auto written = read.execute("INSERT INTO t VALUES(1)");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, full.error().message);
  Database other;
  ASSERT_TRUE(other.open_to_read(path, ""));
  EXPECT_NE(other.execute("INSERT INTO t VALUES(1)").error().message.find("readonly"), std::string::npos);
}

// A system of many components, one of which is another one in each version.
std::string large_state(u32 version) {
  std::string out = R"({"format":1,"components":{)";
  for (u32 i = 0; i < 5'000; ++i)
    out += (i ? "," : "") + std::string(R"("c)") + std::to_string(i) + R"(":{"type":"file","config":{"content":")" +
           std::to_string(i == version % 5'000 ? 1'000'000 + version : i) + std::string(100, 'x') + R"("}})";
  return out + "}}";
}

void run_to_the_end(Store& store, const Lease& lease, u32 version) {
  RunRecord r;
  r.kind = "apply";
  r.base_serial = version;
  r.base_state = version ? large_state(version) : "{}";
  r.plan = r.wanted = large_state(version + 1);
  auto id = store.begin(lease, r);
  ASSERT_TRUE(id) << id.error().message;
  Entry e;
  e.name = "c/apply";
  ASSERT_TRUE(store.append(lease, *id, {&e, 1}));
  ASSERT_TRUE(store.finish(lease, *id, "done", "", large_state(version + 1)));
}

TEST_F(Stores, AChangeOfOneOfManyComponentsAddsLittle) {
  auto lease = store->acquire("shop", somebody(), 30);
  ASSERT_TRUE(lease);
  auto size = [&] {
    Database db;
    EXPECT_TRUE(db.open(dir + "/.tutti/state.db"));
    Statement s(db, "SELECT sum(length(body)) FROM piece");
    return s.step() ? s.integer(0) : 0;
  };
  run_to_the_end(*store, *lease, 0);
  i64 first = size();
  EXPECT_GT(first, 500'000);
  for (u32 v = 1; v <= 20; ++v) run_to_the_end(*store, *lease, v);
  EXPECT_LT(size() - first, 20 * 40'000);
  auto state = store->system("shop");
  ASSERT_TRUE(state && *state);
  EXPECT_EQ((*state)->state, large_state(21));
  auto run = store->run(7);
  ASSERT_TRUE(run && *run);
  EXPECT_EQ((*run)->plan, large_state(7));
  EXPECT_EQ((*run)->base_state, large_state(6));
}

TEST_F(Stores, WhatIsPrunedGoesAndNothingElse) {
  auto lease = store->acquire("shop", somebody(), 30), other = store->acquire("other", somebody(), 30);
  ASSERT_TRUE(lease && other);
  for (u32 v = 0; v < 4; ++v) run_to_the_end(*store, *lease, v);  // runs 1 to 4
  run_to_the_end(*store, *other, 0);                              // run 5
  auto open_run = store->begin(*lease, [] {
    RunRecord r;
    r.kind = "apply";
    r.base_serial = 4;
    r.base_state = large_state(4);
    return r;
  }());
  ASSERT_TRUE(open_run);
  auto pieces = [&] {
    Database db;
    EXPECT_TRUE(db.open(dir + "/.tutti/state.db"));
    Statement s(db, "SELECT count(*) FROM piece");
    return s.step() ? s.integer(0) : 0;
  };
  i64 before = pieces();
  std::vector<i64> old{1, 2, 3, 5, *open_run, 99};
  auto gone = store->prune(*lease, old);
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_EQ(*gone, 3u) << "neither another system's nor one that has not ended";
  EXPECT_LT(pieces(), before);
  for (i64 id : {1, 2, 3}) {
    EXPECT_FALSE(store->run(id)->has_value());
    EXPECT_TRUE(store->entries(id)->empty());
  }
  EXPECT_EQ((*store->run(4))->plan, large_state(4));
  EXPECT_EQ((*store->run(5))->plan, large_state(1));
  EXPECT_EQ((*store->run(*open_run))->base_state, large_state(4));
  EXPECT_EQ((*store->system("shop"))->state, large_state(4));
  EXPECT_EQ((*store->system("other"))->state, large_state(1));
  EXPECT_EQ(store->entries(4)->size(), 1u);
  ASSERT_TRUE(store->release(*lease));
  auto late = store->prune(*lease, old);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, kFenced);
}

// A record as the first version made it, with a run in it, is read and goes on.
TEST_F(Stores, ARecordOfTheFirstVersionIsReadAndGoesOn) {
  store.reset();
  std::filesystem::remove_all(dir + "/.tutti");
  std::filesystem::create_directory(dir + "/.tutti");
  std::filesystem::permissions(dir + "/.tutti", std::filesystem::perms::owner_all);
  {
    Database db;
    ASSERT_TRUE(db.open(dir + "/.tutti/state.db"));
    ASSERT_TRUE(db.execute(R"(
CREATE TABLE system(name TEXT PRIMARY KEY, lineage TEXT NOT NULL, serial INTEGER NOT NULL, state TEXT NOT NULL) STRICT;
CREATE TABLE lock(system TEXT PRIMARY KEY, fence INTEGER NOT NULL, held INTEGER NOT NULL, host TEXT NOT NULL,
  user TEXT NOT NULL, command TEXT NOT NULL, pid INTEGER NOT NULL, birth INTEGER NOT NULL, since REAL NOT NULL, expires REAL NOT NULL) STRICT;
CREATE TABLE run(id INTEGER PRIMARY KEY, system TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL,
  started REAL NOT NULL, ended REAL NOT NULL, who TEXT NOT NULL, base_serial INTEGER NOT NULL, base_state TEXT NOT NULL,
  plan TEXT NOT NULL, wanted TEXT NOT NULL, summary TEXT NOT NULL) STRICT;
CREATE TABLE entry(run INTEGER NOT NULL, sequence INTEGER NOT NULL, time REAL NOT NULL, kind INTEGER NOT NULL,
  instance INTEGER NOT NULL, transition INTEGER NOT NULL, attempt INTEGER NOT NULL, name TEXT NOT NULL, how TEXT NOT NULL,
  code INTEGER NOT NULL, outcome TEXT NOT NULL, message TEXT NOT NULL, log TEXT NOT NULL, outputs TEXT NOT NULL,
  changes TEXT NOT NULL, seconds REAL NOT NULL, PRIMARY KEY(run, sequence)) STRICT, WITHOUT ROWID;
CREATE TABLE duration(key TEXT PRIMARY KEY, count INTEGER NOT NULL, mean REAL NOT NULL, m2 REAL NOT NULL, last REAL NOT NULL) STRICT;
INSERT INTO system VALUES('shop','abc',1,'{"format":1}');
INSERT INTO run VALUES(1,'shop','apply','done',1.0,2.0,'u@h',0,'{}','{"p":1}','{"w":1}','1 added');
INSERT INTO entry VALUES(1,1,1.5,1,0,0,1,'shop.db/start','',0,'','','','','',0.0);
PRAGMA user_version=1;
)"));
  }
  ::chmod((dir + "/.tutti/state.db").c_str(), 0600);
  ASSERT_FALSE(open_sqlite(dir + "/.tutti/state.db")) << "it says nowhere that it was made here";
  auto opened = open_sqlite(dir + "/.tutti/state.db", true);
  ASSERT_TRUE(opened) << opened.error().message;
  store = std::move(*opened);
  EXPECT_EQ((*store->system("shop"))->state, R"({"format":1})");
  auto run = store->run(1);
  ASSERT_TRUE(run && *run);
  EXPECT_FALSE((*run)->damaged);
  EXPECT_EQ((*run)->plan, R"({"p":1})");
  EXPECT_EQ(store->entries(1)->size(), 1u);
  auto lease = store->acquire("shop", somebody(), 30);
  ASSERT_TRUE(lease);
  run_to_the_end(*store, *lease, 1);
  EXPECT_EQ((*store->system("shop"))->serial, 2);
  store = open();
  EXPECT_EQ((*store->system("shop"))->state, large_state(2));
}

}  // namespace
}  // namespace tutti::store
