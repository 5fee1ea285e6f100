// A record is used by its owner alone. Each test is somebody who wants ours to be used as theirs, or theirs as ours.
#include "store/own_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "store/seal.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace tutti::store {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kSomebody = 12345;

class Strangers : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tutti-own-XXXXXX";
    dir = ::mkdtemp(name);
    record = dir + "/.tutti";
  }
  void TearDown() override { fs::remove_all(dir); }
  // As whoever has used it would leave it.
  void make() {
    auto s = open_sqlite(record + "/state.db");
    ASSERT_TRUE(s) << s.error().message;
    auto lease = (*s)->acquire("shop", this_process("apply"), 30);
    RunRecord r;
    r.kind = "apply", r.base_state = "{}";
    auto id = (*s)->begin(*lease, r);
    ASSERT_TRUE((*s)->finish(*lease, *id, "done", "", "{}"));
    ASSERT_TRUE((*s)->release(*lease));
    auto own = OwnDirectory::open(record);
    ASSERT_TRUE(Seal::open(*own));
  }
  int code(bool adopt = false) {
    auto s = open_sqlite(record + "/state.db", adopt);
    return s ? 0 : s.error().code;
  }
  std::string dir, record;
};

TEST_F(Strangers, WhatWeMakeIsOursAlone) {
  ::umask(0);
  make();
  ::umask(022);
  struct stat s {};
  ASSERT_EQ(::stat(record.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 07777, 0700u);
  auto open = open_sqlite(record + "/state.db");
  ASSERT_TRUE(open) << open.error().message;
  ASSERT_TRUE((*open)->acquire("shop", this_process("apply"), 30));
  for (auto& e : fs::directory_iterator(record)) {
    ASSERT_EQ(::lstat(e.path().c_str(), &s), 0);
    EXPECT_EQ(s.st_mode & 07777, 0600u) << e.path();
  }
  EXPECT_TRUE(fs::exists(record + "/state.db-wal"));
}

TEST_F(Strangers, WhatOthersCanWriteIsRefused) {
  make();
  for (std::string what : {"", "/state.db", "/key"}) {
    struct stat s {};
    ASSERT_EQ(::stat((record + what).c_str(), &s), 0);
    for (mode_t more : {mode_t{S_IWGRP}, mode_t{S_IWOTH}}) {
      ::chmod((record + what).c_str(), s.st_mode | more);
      EXPECT_EQ(code(), kForeign) << what;
    }
    ::chmod((record + what).c_str(), s.st_mode);
    EXPECT_EQ(code(), 0) << what;
  }
}

TEST_F(Strangers, WhatBelongsToOthersIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  make();
  for (std::string what : {"", "/state.db", "/key", "/kept"}) {
    fs::create_directories(record + "/kept");
    ASSERT_EQ(::chown((record + what).c_str(), kSomebody, kSomebody), 0);
    EXPECT_EQ(code(), kForeign) << what;
    EXPECT_EQ(code(true), kForeign) << what << ": nobody can adopt what another can write";
    ASSERT_EQ(::chown((record + what).c_str(), 0, 0), 0);
    EXPECT_EQ(code(), 0) << what;
  }
}

TEST_F(Strangers, LinksAreNotFollowed) {
  make();
  fs::create_directories(dir + "/other");
  for (std::string what : {"state.db", "key", "state.db-wal"}) {
    fs::path here = record + "/" + what, there = dir + "/other/" + what;
    if (fs::exists(here)) fs::rename(here, there);
    fs::create_symlink(there, here);
    EXPECT_EQ(code(), kForeign) << what;
    fs::remove(here);
    if (fs::exists(there)) fs::rename(there, here);
    EXPECT_EQ(code(), 0) << what;
  }
  // Our own link to a directory of ours leads where we want it to; anybody else's does not.
  fs::rename(record, dir + "/other/record");
  fs::create_directory_symlink(dir + "/other/record", record);
  EXPECT_EQ(code(), 0);
  if (::geteuid() == 0) {
    ASSERT_EQ(::lchown(record.c_str(), kSomebody, kSomebody), 0);
    EXPECT_EQ(code(), kForeign);
  }
}

// Somebody who owns the directory above puts their own record in place of ours, again and again, while it is opened:
// what is read is ours, or it is refused.
TEST_F(Strangers, NobodyCanExchangeTheRecordWhileItIsOpened) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  make();
  std::string theirs = dir + "/theirs";
  fs::create_directories(theirs);
  fs::copy_file(record + "/state.db", theirs + "/state.db");
  {
    Database db;
    ASSERT_TRUE(db.open(theirs + "/state.db"));
    ASSERT_TRUE(db.execute("UPDATE system SET state='theirs'; PRAGMA wal_checkpoint(TRUNCATE)"));
  }
  for (auto& e : fs::directory_iterator(theirs)) ASSERT_EQ(::lchown(e.path().c_str(), kSomebody, kSomebody), 0);
  ASSERT_EQ(::lchown(theirs.c_str(), kSomebody, kSomebody), 0);
  std::atomic<bool> over{false};
  std::thread adversary([&] {
    while (!over) {
      ::renameat2(AT_FDCWD, theirs.c_str(), AT_FDCWD, record.c_str(), RENAME_EXCHANGE);
    }
  });
  int opened = 0, refused = 0;
  for (int k = 0; k < 300 || (opened == 0 && k < 100000); ++k) {
    auto s = open_sqlite(record + "/state.db");
    if (!s) {
      ++refused;
      continue;
    }
    auto system = (*s)->system("shop");
    if (!system || !*system) continue;
    ++opened;
    ASSERT_EQ((*system)->state, "{}");
  }
  over = true;
  adversary.join();
  EXPECT_GT(opened, 0);
  EXPECT_GT(refused, 0);
}

// What a check-out, an archive or a copy brings is a new file, whatever is in it.
TEST_F(Strangers, ARecordThatCameFromElsewhereIsNobodysUntilItIsAdopted) {
  make();
  std::string away = dir + "/away";
  fs::copy(record, away);
  fs::remove_all(record);
  fs::copy(away, record);
  EXPECT_EQ(code(), kFromElsewhere);
  auto s = open_sqlite(record + "/state.db");
  EXPECT_NE(s.error().message.find("was not made here"), std::string::npos) << s.error().message;
  EXPECT_EQ(code(), kFromElsewhere) << "a refusal changes nothing";
  EXPECT_EQ(code(true), 0);
  EXPECT_EQ(code(), 0) << "said once it is known";
  fs::rename(record, dir + "/moved");
  fs::rename(dir + "/moved", record);
  EXPECT_EQ(code(), 0) << "one that is moved is the same";
}

TEST_F(Strangers, ANetworkFileSystemIsNoPlaceForARecord) {
  EXPECT_EQ(network_file_system(0x6969, "nfs4"), "nfs");
  EXPECT_EQ(network_file_system(0xff534d42, "cifs"), "cifs");
  EXPECT_EQ(network_file_system(0x65735546, "fuse.sshfs"), "fuse.sshfs");
  EXPECT_EQ(network_file_system(0x65735546, "virtiofs"), "virtiofs");
  EXPECT_EQ(network_file_system(0x65735546, ""), "fuse") << "nobody knows what is behind it";
  EXPECT_EQ(network_file_system(0x65735546, "fuse.fuse-overlayfs"), "");
  EXPECT_EQ(network_file_system(0xef53, "ext4"), "");
  EXPECT_EQ(network_file_system(0x01021994, "tmpfs"), "");
}

TEST_F(Strangers, ARecordWithMoreThanTablesIsNone) {
  make();
  {
    Database db;
    ASSERT_TRUE(db.open(record + "/state.db"));
    ASSERT_TRUE(db.execute("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM system; END"));
  }
  auto s = open_sqlite(record + "/state.db", true);
  ASSERT_FALSE(s);
  EXPECT_NE(s.error().message.find("no record of tutti's"), std::string::npos) << s.error().message;
}

}  // namespace
}  // namespace tutti::store
