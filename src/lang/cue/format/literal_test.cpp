#include "lang/cue/format/literal.h"

#include <gtest/gtest.h>

namespace tutti::cue {
namespace {

TEST(CueLiteral, Unquote) {
  const char* rows[][2] = {
      {"\"\"", ""},
      {"\"a\\tb\\u00e9\\U0001F600\"", "a\tb\u00e9\U0001F600"},
      {"\"\\ud83d\\ude00\"", "\U0001F600"},
      {"#\"a\\n\\#n\"#", "a\\n\n"},
      {"##\"a\"#b\"##", "a\"#b"},
      {"'\\x41\\102'", "AB"},
      {"\"\"\"\n\t\ta\n\n\t\t  b\n\t\t\"\"\"", "a\n\n  b"},
      {"\"\"\"\n\t\"\"\"", ""},
      {"\"\"\"\n  a \\\n  b\n  \"\"\"", "a b"},
      {"'''\n  a\n  '''", "a"},
      {"\"\"\"\n  say \"\"\"x\n  \"\"\"", "say \"\"\"x"},
  };
  for (auto& r : rows) {
    Unquoted u = unquote(r[0]);
    EXPECT_TRUE(u.ok()) << r[0] << ": " << u.error;
    EXPECT_EQ(u.text, r[1]) << r[0];
  }
  for (const char* s : {"\"", "\"a", "\"\\x41\"", "\"\\q\"", "\"a\"b\"", "\"\\ud83d\"", "'\\400'", "\"\"\"a\n\"\"\"",
                        "\"\"\"\n  a\n b\n  \"\"\"", "\"\"\"\na\"\"\"", "#\"a\"", "x", ""})
    EXPECT_FALSE(unquote(s).ok()) << s;
}

TEST(CueLiteral, Parts) {
  std::string error;
  std::string_view first = "\"a \\(", last = ") b\"";
  auto q = parse_quotes(first, last, error);
  ASSERT_TRUE(q);
  EXPECT_EQ(unquote_part(*q, first.substr(q->opening)).text, "a ");
  EXPECT_EQ(unquote_part(*q, last.substr(1)).text, " b");
}

TEST(CueLiteral, Quote) {
  EXPECT_EQ(quote("a\"b\n\x01"), "\"a\\\"b\\n\\u0001\"");
  EXPECT_EQ(quote("a'\xff\x01", {.bytes = true}), "'a\\'\\xff\\x01'");
  EXPECT_EQ(quote("a\nb\n\nc", {.tabs = 1}), "\"\"\"\n\ta\n\tb\n\n\tc\n\t\"\"\"");
  EXPECT_EQ(quote("a\n\"\"\"#", {.tabs = 0}), "##\"\"\"\na\n\"\"\"#\n\"\"\"##");
  EXPECT_EQ(quote("^\\d$", {.hashes = true}), "#\"^\\d$\"#");
  EXPECT_EQ(label_text("a-b"), "\"a-b\"");
  EXPECT_EQ(label_text("a_b$1"), "a_b$1");
  EXPECT_EQ(label_text("_a"), "\"_a\"");
  EXPECT_EQ(label_text("1a"), "\"1a\"");
  EXPECT_EQ(indent_literal("\"\"\"\n  a\n    b\n  \"\"\"", 1), "\"\"\"\n\ta\n\t  b\n\t\"\"\"");
}

TEST(CueLiteral, QuoteThenUnquote) {
  u32 seed = 12345;
  for (int i = 0; i < 2000; ++i) {
    std::string s;
    for (u32 n = (seed >> 16) % 12; n > 0; --n) {
      seed = seed * 1664525 + 1013904223;
      s += "ab\"'\\#\n\t(\r\x01z"[(seed >> 20) % 12];
    }
    seed = seed * 1664525 + 1013904223;
    for (QuoteStyle style :
         {QuoteStyle{}, QuoteStyle{.bytes = true}, QuoteStyle{.tabs = 2}, QuoteStyle{.hashes = true}}) {
      Unquoted u = unquote(quote(s, style));
      EXPECT_TRUE(u.ok()) << quote(s, style) << u.error;
      EXPECT_EQ(u.text, s) << quote(s, style);
    }
  }
}

TEST(CueLiteral, Numbers) {
  struct {
    const char *text, *want;
    bool integer;
  } rows[] = {{"1_000", "1000", true}, {"0xFF", "255", true},   {"0b101", "5", true}, {"0o17", "15", true},
              {"1.5Ki", "1536", true}, {"2M", "2000000", true}, {".5", "0.5", false}, {"1.", "1", false},
              {"1e3", "1E+3", false},  {"1.50", "1.50", false}, {"-3", "-3", true},   {"0", "0", true},
              {"0.0", "0.0", false},   {"01.5", "1.5", false},  {"0K", "0", true}};
  for (auto& r : rows) {
    Number n = parse_number(r.text);
    EXPECT_TRUE(n.ok()) << r.text << n.error;
    EXPECT_EQ(n.value.text(), r.want) << r.text;
    EXPECT_EQ(n.integer, r.integer) << r.text;
  }
  for (const char* s : {"", "01", "1__0", "1_", "0x", "1.3Ki", "1e", "1a", "0b2", "."})
    EXPECT_FALSE(parse_number(s).ok()) << s;
}

}  // namespace
}  // namespace tutti::cue
