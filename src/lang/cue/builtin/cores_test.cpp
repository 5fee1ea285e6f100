#include <gtest/gtest.h>

#include "lang/cue/builtin/encodings.h"
#include "lang/cue/builtin/regex.h"
#include "lang/cue/builtin/timestamp.h"
#include "lang/cue/format/tab_writer.h"

namespace tutti::cue {
namespace {

TEST(CueTime, FormatAndParse) {
  std::string error;
  auto t = parse_time(kRfc3339Nano, "2019-01-02T15:04:05.5+02:00", error);
  ASSERT_TRUE(t) << error;
  EXPECT_EQ(t->seconds, 1546434245);
  EXPECT_EQ(format_time(*t, kRfc3339Nano), "2019-01-02T15:04:05.5+02:00");
  EXPECT_EQ(format_time(*t, "Mon Jan _2 03:04PM 2006"), "Wed Jan  2 03:04PM 2019");
  EXPECT_EQ(format_time(*t, "2006-002"), "2019-002");
  EXPECT_FALSE(parse_time(kRfc3339Nano, "2019-02-30T00:00:00Z", error));
  EXPECT_FALSE(parse_time(kRfc3339Nano, "2019-01-02", error));
  EXPECT_TRUE(parse_time("3:04PM", "7:15AM", error)) << error;
  EXPECT_EQ(format_time(*t, "MST"), "+0200");
}

TEST(CueTime, Durations) {
  std::string error;
  EXPECT_EQ(parse_duration("1h2m3.5s", error), 3723500000000);
  EXPECT_EQ(parse_duration("-1.5ms", error), -1500000);
  EXPECT_FALSE(parse_duration("3", error));
  EXPECT_EQ(error, "time: missing unit in duration \"3\"");
  EXPECT_EQ(format_duration(3723500000000), "1h2m3.5s");
  EXPECT_EQ(format_duration(0), "0s");
  EXPECT_EQ(format_duration(-1500000), "-1.5ms");
}

TEST(CueEncodings, Base64AndHtml) {
  std::string error;
  for (std::string s : {"", "a", "ab", "abc", "\xff\x00z"}) EXPECT_EQ(base64_decode(base64_encode(s), error), s);
  EXPECT_FALSE(base64_decode("ab=", error));
  EXPECT_FALSE(base64_decode("a*bc", error));
  EXPECT_EQ(html_unescape(html_escape("<a href=\"x\">'&</a>")), "<a href=\"x\">'&</a>");
}

TEST(CueRegex, GoSyntax) {
  std::string error;
  const auto* re = compile_regex("(?<word>b+)", &error);
  ASSERT_TRUE(re) << error;
  EXPECT_EQ(regex_group_names(*re)[1], "word");
  EXPECT_EQ(regex_find_all(*re, "abbab", -1).size(), 2u);
  EXPECT_EQ(regex_find_all(*compile_regex("a*"), "baac", -1).size(), 3u);
  EXPECT_FALSE(compile_regex("(", &error));
  EXPECT_EQ(error, "error parsing regexp: missing closing ): `(`");
  EXPECT_TRUE(regex_matches(*compile_regex("^[\\P{ASCII}]\\p{ASCII}$"), "éa"));
}

TEST(CueRegex, WhatGoRefuses) {
  std::string error;
  EXPECT_FALSE(compile_regex("a\\C", &error));
  EXPECT_EQ(error, "error parsing regexp: invalid escape sequence: `\\C`");
  EXPECT_TRUE(compile_regex("\\\\C"));
  EXPECT_FALSE(compile_regex("a{0,99999999999}", &error));
  EXPECT_EQ(error, "error parsing regexp: invalid repeat count: `{0,99999999999}`");
  EXPECT_TRUE(compile_regex("[a{1001}]"));
  EXPECT_FALSE(compile_regex("(?<=a)b", &error));
  EXPECT_EQ(error, "error parsing regexp: invalid named capture: `(?<=a)b`");
}

TEST(CueTabWriter, Columns) {
  TabWriter::Options o;
  o.tab_width = 4;
  TabWriter w(o);
  w.write("a\tbb\tc\nlong\tx\ty\n");
  EXPECT_EQ(w.finish(), "a    bb c\nlong x  y\n");
}

}  // namespace
}  // namespace tutti::cue
