// Where a path leads when it is opened decides, also while somebody changes what it leads to.
#include "base/boundary.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/file.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

class BoundaryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tutti-boundary-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    top = name;
    fs::create_directories(top + "/in/sub");
    fs::create_directory(top + "/out");
    std::ofstream(top + "/in/a") << "inside";
    std::ofstream(top + "/out/a") << "outside";
  }
  void TearDown() override { fs::remove_all(top); }

  std::string top;
  Boundary boundary{Boundary::Rules{}};
};

TEST_F(BoundaryTest, LinksAreFollowedWithinTheRootOnly) {
  boundary.name_argument(top + "/in");
  Boundary::InForce in_force(boundary);
  fs::create_symlink(top + "/in/a", top + "/in/sub/absolute");
  fs::create_symlink("../a", top + "/in/sub/relative");
  fs::create_symlink("../../out/a", top + "/in/sub/away");
  fs::create_directory_symlink(top + "/out", top + "/in/folder");
  EXPECT_EQ(read_file(top + "/in/sub/absolute", 100).value(), "inside");
  EXPECT_EQ(read_file(top + "/in/sub/relative", 100).value(), "inside");
  for (const char* path : {"/in/sub/away", "/in/folder/a", "/in/../out/a", "/out/a", "/in/folder/nothing"})
    EXPECT_EQ(read_file(top + path, 100).error().code, kOutside) << path;
  EXPECT_EQ(read_file(top + "/in/nothing", 100).error().code, ENOENT);
}

TEST_F(BoundaryTest, WritesStayInsideAlsoWhereFoldersAreToBeMade) {
  boundary.name_argument(top + "/in");
  Boundary::InForce in_force(boundary);
  fs::create_directory_symlink(top + "/out", top + "/in/folder");
  EXPECT_TRUE(make_folders_for(top + "/in/new/deep/file"));
  EXPECT_TRUE(write_file_atomically(top + "/in/new/deep/file", "x"));
  for (const char* path : {"/in/folder/x", "/in/folder/new/x", "/in/../out/x", "/in/nothing/../../out/x"}) {
    EXPECT_EQ(make_folders_for(top + path).error().code, kOutsideToWrite) << path;
    EXPECT_EQ(write_file_atomically(top + path, "x").error().code, kOutsideToWrite) << path;
  }
  boundary.name_option("output", top + "/out/named");
  EXPECT_TRUE(write_file_atomically(top + "/out/named", "x"));
}

TEST_F(BoundaryTest, TrustIsAskedOnceAndOnlyWhenNeeded) {
  int asked = 0;
  Boundary asking({{}, {}, [&](const std::vector<std::string>&, bool) { return ++asked > 0; }, {}});
  asking.name_argument(top + "/in/a");
  Boundary::InForce in_force(asking);
  EXPECT_TRUE(read_file(top + "/in/a", 100));
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(read_file(top + "/out/a", 100).value(), "outside");
  EXPECT_TRUE(may_run_code());
  EXPECT_EQ(asked, 1);
}

TEST_F(BoundaryTest, APipeThatNobodyNamedIsNotOpened) {
  ASSERT_EQ(::mkfifo((top + "/in/pipe").c_str(), 0600), 0);
  boundary.name_argument(top + "/in");
  Boundary::InForce in_force(boundary);
  EXPECT_EQ(read_file(top + "/in/pipe", 100).error().code, EINVAL);
}

// Another process swaps what the name leads to as fast as it can. Whatever comes of it, nothing from outside does.
TEST_F(BoundaryTest, ARaceIsNotWon) {
  boundary.name_argument(top + "/in");
  Boundary::InForce in_force(boundary);
  std::string name = top + "/in/race", beside = top + "/in/beside";
  std::atomic<bool> done{false};
  std::thread adversary([&] {
    for (bool away = false; !done; away = !away) {
      ::unlink(beside.c_str());
      EXPECT_EQ(::symlink(away ? "../out/a" : "a", beside.c_str()), 0);
      EXPECT_EQ(::rename(beside.c_str(), name.c_str()), 0);
    }
  });
  int inside = 0, refused = 0;
  for (int i = 0; i < 20000 || inside == 0 || refused == 0; ++i) {
    Result<std::string> text = read_file(name, 100);
    if (text) {
      ASSERT_EQ(*text, "inside");
    }
    (text ? inside : refused)++;
  }
  done = true;
  adversary.join();
}

}  // namespace
}  // namespace tutti
