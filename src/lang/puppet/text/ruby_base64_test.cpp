#include "lang/puppet/text/ruby_base64.h"

#include <gtest/gtest.h>

namespace tutti::puppet {
namespace {

TEST(RubyBase64, LinesOfSixty) {
  EXPECT_EQ(ruby_base64_lines(""), "");
  EXPECT_EQ(ruby_base64_lines("hello"), "aGVsbG8=\n");
  EXPECT_EQ(
      ruby_base64_lines(std::string(45, 'a')), std::string("YWFh") + [] {
        std::string rest;
        for (int n = 0; n < 14; ++n) rest += "YWFh";
        return rest;
      }() + "\n");
  EXPECT_EQ(ruby_base64_lines(std::string(48, 'a')).find('\n'), 60u);
}

TEST(RubyBase64, ReadsLenientlyOrStrictly) {
  EXPECT_EQ(ruby_base64_decode("aGVsbG8=", true), "hello");
  EXPECT_EQ(ruby_base64_decode("aGVs bG8=", true), std::nullopt);
  EXPECT_EQ(ruby_base64_decode("aGVsbG8", true), std::nullopt);
  EXPECT_EQ(ruby_base64_decode("aGVs!\nbG8", false), "hello");
  EXPECT_EQ(ruby_base64_decode("aGVsbG8=aGk=", false), "hello");
  EXPECT_EQ(ruby_base64_decode("a", false), "");
}

}  // namespace
}  // namespace tutti::puppet
