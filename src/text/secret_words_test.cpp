#include "text/secret_words.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>

namespace tutti {
namespace {

TEST(SecretWords, HiddenAndStarred) {
  SecretWords words;
  EXPECT_EQ(words.hidden("hunter2"), "hunter2");
  words.add("hunter2");
  EXPECT_EQ(words.hidden("a hunter2 b aHVudGVyMg== c"), "a (secret) b (secret) c");
  EXPECT_EQ(words.starred("a hunter2 b"), "a ******* b");
  EXPECT_TRUE(words.is_one("hunter2"));
  EXPECT_FALSE(words.is_one("a hunter2"));
  words.add_lines("one line\n  another one\nline 2");
  EXPECT_EQ(words.hidden("one line, another one"), "(secret), (secret)");
  EXPECT_EQ(words.hidden("line 2"), "line 2") << "a line of few letters stands in other texts too";
  words.add("abc");
  EXPECT_EQ(words.hidden("abc"), "abc");  // it would be found everywhere
}

TEST(SecretWords, AProcessThatHoldsThemLeavesNoCore) {
  SecretWords words;
  words.add("hunter2");
  EXPECT_EQ(::prctl(PR_GET_DUMPABLE), 0);
}

}  // namespace
}  // namespace tutti
