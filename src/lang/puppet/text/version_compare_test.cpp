#include "lang/puppet/text/version_compare.h"

#include <gtest/gtest.h>

namespace tutti::puppet {
namespace {

// Answers of Puppet 7.23.
TEST(CompareVersions, AgreesWithPuppet) {
  EXPECT_EQ(compare_versions("1.0", "1.0.0"), -1);
  EXPECT_EQ(compare_versions("1.0-rc1", "1.0"), 1);
  EXPECT_EQ(compare_versions("1.10", "1.9"), 1);
  EXPECT_EQ(compare_versions("1.05", "1.1"), -1);
  EXPECT_EQ(compare_versions("2.4.6b", "2.4.6a"), 1);
  EXPECT_EQ(compare_versions("1.2-3", "1.2.3"), -1);
  EXPECT_EQ(compare_versions("a", "1"), 1);
  EXPECT_EQ(compare_versions("1.0.0", "1"), 1);
  EXPECT_EQ(compare_versions("9", "10"), -1);
  EXPECT_EQ(compare_versions("", "1"), -1);
  EXPECT_EQ(compare_versions("1.2.3-1", "1.2.3-01"), 1);
  EXPECT_EQ(compare_versions("10.0.1a", "10.0.1B"), -1);
  EXPECT_EQ(compare_versions("1.0", "1", true), 0);
  EXPECT_EQ(compare_versions("1.0.0-1", "1-1", true), 0);
  EXPECT_EQ(compare_versions("10", "1", true), 0);
}

}  // namespace
}  // namespace tutti::puppet
