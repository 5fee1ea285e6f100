#include "lang/puppet/types/regex.h"

#include <gtest/gtest.h>

namespace tutti::puppet {
namespace {

bool found(std::string_view pattern, std::string_view text) { return Regex::get(pattern, nullptr)->search(text, 0); }

TEST(Regex, ShortClassesAreAsciiAndNamedOnesUnicode) {
  EXPECT_TRUE(found("\\Aé\\z", "é"));
  EXPECT_FALSE(found("\\w", "é"));
  EXPECT_FALSE(found("[x\\w]", "é"));
  EXPECT_TRUE(found("\\W", "é"));
  EXPECT_TRUE(found("[\\W]", "é"));
  EXPECT_TRUE(found("[[:word:]]", "é"));
  EXPECT_FALSE(found("a\\b", "aé"));
  EXPECT_FALSE(found("\\d", "٣"));
  EXPECT_TRUE(found("\\A\\d+\\s\\w+\\z", "12\tab_1"));
  EXPECT_TRUE(found("\\\\w", "\\w"));
}

}  // namespace
}  // namespace tutti::puppet
