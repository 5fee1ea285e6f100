#include "lang/puppet/text/psych.h"

#include <gtest/gtest.h>

namespace tutti::puppet {
namespace {

TEST(PsychScalar, WordsAreBooleansAndNull) {
  for (std::string_view yes : {"yes", "true", "on", "Yes", "ON"}) {
    EXPECT_EQ(psych_scalar(yes).what, PsychScalar::kBool) << yes;
    EXPECT_TRUE(psych_scalar(yes).boolean) << yes;
  }
  for (std::string_view no : {"no", "false", "off"}) EXPECT_FALSE(psych_scalar(no).boolean) << no;
  for (std::string_view null : {"", "~", "null", "NULL"})
    EXPECT_EQ(psych_scalar(null).what, PsychScalar::kNull) << null;
  for (std::string_view text : {"y", "n", "text", "1e3", "1.2.3", "10.0.0.1", "a:b", "-", ".", "08", "1__0"}) {
    EXPECT_EQ(psych_scalar(text).what, PsychScalar::kString) << text;
  }
}

TEST(PsychScalar, NumbersOfEveryBase) {
  auto number = [](std::string_view s) {
    PsychScalar v = psych_scalar(s);
    EXPECT_EQ(v.what, PsychScalar::kInt) << s;
    return v.integer;
  };
  EXPECT_EQ(number("12"), 12);
  EXPECT_EQ(number("-12"), -12);
  EXPECT_EQ(number("0755"), 493);
  EXPECT_EQ(number("0x1F"), 31);
  EXPECT_EQ(number("0b101"), 5);
  EXPECT_EQ(number("1,000"), 1000);
  EXPECT_EQ(number("1_000"), 1000);
  EXPECT_EQ(number("1:30"), 5400);
  EXPECT_EQ(number("1:30:15"), 5415);
  EXPECT_EQ(psych_scalar("1.10").real, 1.1);
  EXPECT_EQ(psych_scalar("1.").real, 1.0);
  EXPECT_EQ(psych_scalar("1.5e+3").real, 1500.0);
}

TEST(PsychScalar, DatesAndSymbols) {
  EXPECT_EQ(psych_scalar("2020-01-31").what, PsychScalar::kDate);
  EXPECT_EQ(psych_scalar("2020-01-31 10:00:00 +01:00").what, PsychScalar::kDate);
  EXPECT_EQ(psych_scalar("2020-13-31").what, PsychScalar::kString);
  EXPECT_EQ(psych_scalar(":name").text, "name");
  EXPECT_EQ(psych_scalar(":\"a b\"").text, "a b");
}

}  // namespace
}  // namespace tutti::puppet
