// What another user can do to root by changing what names lead to: nothing. A process of that user's own tries all the
// time, in a directory of its own, while root writes, gives away and removes there.
#include "transport/place.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "transport/local_files.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
constexpr uid_t kUser = 65534;  // nobody

class InAnothersDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    char name[] = "/tmp/tutti-place-XXXXXX";
    base = ::mkdtemp(name);
    ::chmod(base.c_str(), 0755);
    theirs = base + "/theirs";
    ours = base + "/ours";
    fs::create_directory(theirs);
    fs::create_directory(ours);
    ::chmod(ours.c_str(), 0700);
    ASSERT_EQ(::chown(theirs.c_str(), kUser, kUser), 0);
    ASSERT_TRUE(files.write(secret(), "root's\n", 0600, {}));
  }
  void TearDown() override {
    if (!base.empty()) fs::remove_all(base);
  }
  std::string secret() const { return ours + "/secret"; }
  // As the other user.
  void as_user(const std::function<void()>& act) const {
    pid_t pid = ::fork();
    if (pid == 0) {
      if (::setresgid(kUser, kUser, kUser) == 0 && ::setresuid(kUser, kUser, kUser) == 0) act();
      ::_exit(0);
    }
    ::waitpid(pid, nullptr, 0);
  }
  void expect_untouched() const {
    struct stat st {};
    ASSERT_EQ(::lstat(secret().c_str(), &st), 0);
    EXPECT_EQ(st.st_uid, 0u);
    EXPECT_EQ(st.st_mode & 07777, 0600u);
    EXPECT_EQ(st.st_size, 7);
  }
  LocalFiles files;
  std::string base, theirs, ours;
};

TEST_F(InAnothersDirectory, ALinkOfTheirsIsFollowedOnlyToWhatIsTheirs) {
  as_user([&] {
    ::symlink("/etc", (theirs + "/etc").c_str());
    ::symlink(ours.c_str(), (theirs + "/out").c_str());
    ::symlink(secret().c_str(), (theirs + "/file").c_str());
    ::mkdir((theirs + "/v12").c_str(), 0755);
    ::symlink("v12", (theirs + "/current").c_str());
    ::symlink((theirs + "/v12").c_str(), (theirs + "/absolute").c_str());
  });
  for (std::string path : {"/etc/new", "/out/new", "/out/secret"}) {
    auto r = files.write(theirs + path, "x", 0644, {});
    ASSERT_FALSE(r) << path;
    EXPECT_EQ(r.error().code, kUntrusted) << r.error().message;
    EXPECT_NE(r.error().message.find("link"), std::string::npos) << r.error().message;
  }
  EXPECT_FALSE(files.append(theirs + "/file", "x"));
  EXPECT_FALSE(files.set_mode(theirs + "/file", 0666));
  EXPECT_FALSE(files.set_owner(theirs + "/file", {"nobody", ""}, true));
  EXPECT_FALSE(files.read(theirs + "/file"));
  EXPECT_FALSE(files.list(theirs + "/out"));
  EXPECT_FALSE(files.make_directory(theirs + "/out/d", 0755, {}));
  EXPECT_FALSE(files.make_parents(theirs + "/out/a/b"));
  EXPECT_FALSE(files.rename(theirs + "/out/secret", theirs + "/mine"));
  EXPECT_FALSE(files.remove(theirs + "/out/secret", true));
  expect_untouched();
  // What is theirs from end to end they could do alone.
  EXPECT_TRUE(files.write(theirs + "/current/conf", "1", 0644, {}));
  EXPECT_TRUE(files.write(theirs + "/absolute/conf", "2", 0644, {}));
  EXPECT_TRUE(files.write(theirs + "/current/conf", "3", 0644, {}));
  EXPECT_EQ(*files.read(theirs + "/v12/conf"), "3");
  // A link is removed and replaced itself.
  EXPECT_TRUE(files.write(theirs + "/file", "x", 0644, {}));
  EXPECT_TRUE(files.remove(theirs + "/etc", true));
  expect_untouched();
}

// The machine's own links are the way: /bin, /var/run.
TEST_F(InAnothersDirectory, LinksOfRootsAreFollowed) {
  fs::create_directory_symlink("ours", base + "/link");
  EXPECT_TRUE(files.write(base + "/link/new", "x", 0644, {}));
  EXPECT_TRUE(fs::exists(ours + "/new"));
  auto sh = files.stat("/bin/sh", true, false);
  ASSERT_TRUE(sh);
  EXPECT_EQ(sh->kind, FileState::Kind::kFile);
}

TEST_F(InAnothersDirectory, AStickyDirectoryOfEverybodysIsNoTrap) {
  std::string everybodys = base + "/tmp";
  fs::create_directory(everybodys);
  ::chmod(everybodys.c_str(), 01777);
  as_user([&] { ::symlink(ours.c_str(), (everybodys + "/theirs").c_str()); });
  fs::create_directory_symlink("../ours", everybodys + "/ours");
  EXPECT_FALSE(files.write(everybodys + "/theirs/new", "x", 0644, {}));
  EXPECT_TRUE(files.write(everybodys + "/ours/new", "x", 0644, {}));
  EXPECT_FALSE(files.open_log(everybodys + "/theirs/secret"));
}

// They cannot read root's file, but they may give it another name in their own directory.
TEST_F(InAnothersDirectory, AFileOfRootsIsNotGivenAwayUnderAnotherName) {
  ASSERT_TRUE(files.write(theirs + "/password", "root's\n", 0600, {}));
  as_user([&] { ::rename((theirs + "/password").c_str(), (theirs + "/mine").c_str()); });
  auto owner = files.set_owner(theirs + "/mine", {"nobody", "nogroup"}, true);
  auto mode = files.set_mode(theirs + "/mine", 0644);
  ASSERT_FALSE(owner);
  ASSERT_FALSE(mode);
  EXPECT_EQ(owner.error().code, kUntrusted);
  EXPECT_EQ(mode.error().code, kUntrusted);
  auto st = files.stat(theirs + "/mine", false, false);
  EXPECT_EQ(st->uid, 0u);
  EXPECT_EQ(st->mode, 0600u);
  EXPECT_TRUE(files.set_mode(theirs + "/mine", 0400));                                  // less is no gift
  EXPECT_TRUE(files.write(theirs + "/mine", "theirs\n", 0600, {"nobody", "nogroup"}));  // another file, another content
  EXPECT_EQ(files.stat(theirs + "/mine", false, false)->uid, kUser);
}

TEST_F(InAnothersDirectory, WhatIsMadeBelongsToItsOwnerFromTheFirstMoment) {
  EXPECT_TRUE(files.make_directory(theirs + "/d", 02750, {"nobody", "nogroup"}));
  auto d = files.stat(theirs + "/d", false, false);
  EXPECT_EQ(d->uid, kUser);
  EXPECT_EQ(d->mode, 02750u);
  EXPECT_TRUE(files.make_link(theirs + "/l", "d", {"nobody", "nogroup"}));
  EXPECT_EQ(files.stat(theirs + "/l", false, false)->uid, kUser);
}

TEST_F(InAnothersDirectory, ALogIsAFileAndNobodysDoor) {
  as_user([&] {
    ::symlink(secret().c_str(), (theirs + "/a.log").c_str());
    ::mkfifo((theirs + "/b.log").c_str(), 0666);
    ::close(::open((theirs + "/c.log").c_str(), O_CREAT | O_WRONLY, 0644));
  });
  EXPECT_FALSE(files.open_log(theirs + "/a.log"));
  EXPECT_FALSE(files.open_log(theirs + "/b.log"));  // and nobody waits for a reader
  EXPECT_TRUE(files.open_log(theirs + "/c.log"));
  EXPECT_TRUE(files.open_log(theirs + "/new.log"));
  expect_untouched();
}

TEST_F(InAnothersDirectory, AnotherUsersPidFileNamesOnlyThatUsersProcesses) {
  pid_t roots = ::fork();
  if (roots == 0) {
    ::pause();
    ::_exit(0);
  }
  as_user([&] {
    int fd = ::open((theirs + "/pid").c_str(), O_CREAT | O_WRONLY, 0644);
    std::string line = std::to_string(roots) + " 0 tag\n";
    [[maybe_unused]] auto n = ::write(fd, line.data(), line.size());
  });
  auto host = here();
  auto seen = host->standing(theirs + "/pid");
  EXPECT_FALSE(seen);
  ::kill(roots, SIGKILL);
  ::waitpid(roots, nullptr, 0);
}

// The race itself: names change all the time between what is looked at and what is touched.
TEST_F(InAnothersDirectory, AnAdversaryWhoNeverRestsGetsNothing) {
  std::string target = theirs + "/file", spare = theirs + "/spare", log = theirs + "/log";
  pid_t adversary = ::fork();
  if (adversary == 0) {
    if (::setresgid(kUser, kUser, kUser) != 0 || ::setresuid(kUser, kUser, kUser) != 0) ::_exit(1);
    for (u32 i = 0;; ++i) {
      ::unlink(target.c_str());
      ::symlink(secret().c_str(), target.c_str());
      ::unlink(log.c_str());
      ::symlink(secret().c_str(), log.c_str());
      ::unlink(spare.c_str());
      ::symlink(ours.c_str(), spare.c_str());
      ::rename((theirs + "/roots").c_str(), target.c_str());  // a file of root's under the name that is given away
      ::unlink((target + std::string(kUnfinished)).c_str());
      if (i % 3 == 0) ::rename((theirs + "/dir").c_str(), spare.c_str());
    }
  }
  for (int i = 0; i < 500; ++i) {
    [[maybe_unused]] auto a = files.write(target, "content\n", 0644, {"nobody", "nogroup"});
    [[maybe_unused]] auto b = files.set_owner(target, {"nobody", "nogroup"}, true);
    [[maybe_unused]] auto c = files.set_mode(target, 0666);
    [[maybe_unused]] auto d = files.append(log, "line\n");
    [[maybe_unused]] auto e = files.write(spare + "/secret", "no\n", 0666, {});
    [[maybe_unused]] auto f = files.make_directory(theirs + "/dir", 0755, {"nobody", "nogroup"});
    [[maybe_unused]] auto g = files.remove(spare + "/secret", true);
    [[maybe_unused]] auto h = files.write(theirs + "/roots", "root's\n", 0600, {});
    expect_untouched();
    // No file with root's content has become theirs.
    if (auto is = files.stat(target, false, false); is && is->kind == FileState::Kind::kFile && is->uid == kUser) {
      Descriptor fd(::open(target.c_str(), O_RDONLY | O_NOFOLLOW));
      struct stat st {};
      char bytes[16] = "";
      if (fd && ::fstat(fd.get(), &st) == 0 && st.st_uid == kUser && ::read(fd.get(), bytes, sizeof bytes - 1) > 0) {
        EXPECT_STRNE(bytes, "root's\n") << "after " << i;
      }
    }
    if (HasFailure()) break;
  }
  ::kill(adversary, SIGKILL);
  ::waitpid(adversary, nullptr, 0);
}

}  // namespace
}  // namespace tutti
