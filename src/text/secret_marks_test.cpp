#include "text/secret_marks.h"

#include <gtest/gtest.h>

#include "text/diagnostic.h"
#include "text/source.h"

namespace tutti {
namespace {

// The text as it is shown: with stars where something is marked.
std::string shown_stars(std::string text) {
  for (auto [from, to] : secret_marks(text).spans)
    for (std::size_t i = from; i < to; i++) text[i] = text[i] == '\n' ? '\n' : '*';
  return text;
}

TEST(SecretMarks, OfEveryLanguage) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"pw: \"hush\" @secret()\nb: \"open\"", "pw: \"****\" @secret()\nb: \"open\""},
      {"m: {a: {b: \"hush\"}, c: [\"hush\"]} @secret(), d: \"open\"",
       "m: {a: {b: \"****\"}, c: [\"****\"]} @secret(), d: \"open\""},
      {"a: \"open\", pw: \"\"\"\n  hush\n  \"\"\" @secret()", "a: \"open\", pw: \"\"\"\n******\n**\"\"\" @secret()"},
      {"pw: \"hush @secret()\nb: \"open\"", "pw: \"**************\nb: \"open\""},
      {"pw: \"hush\" ] @secret()", "pw: \"****\" ] @secret()"},
      {"[sfSecret] pw \"hush\"; b \"open\";", "[sfSecret] pw \"****\"; b \"open\";"},
      {"[sfFinal, sfSecret] m extends { a \"hush\"; b 7; } c \"open\";",
       "[sfFinal, sfSecret] m extends { a \"****\"; b 7; } c \"open\";"},
      {"$a = Sensitive('hush')\n$b = 'open'", "$a = Sensitive('****')\n$b = 'open'"},
      {"Sensitive.new(\"hush\") 'open'", "Sensitive.new(\"****\") 'open'"},
      {"Sensitive(@(X))\n  hush\n  | X\n'open'", "Sensitive(@(X))\n  ****\n  | X\n'open'"},
      {"Sensitive(Deferred('f', ['hush']))", "Sensitive(Deferred('*', ['****']))"},
      {"<a><pw s:secret=\"true\" b=\"hush\">hush<c>hush</c></pw><d>open</d></a>",
       "<a><pw s:secret=\"true\" b=\"****\">****<c>****</c></pw><d>open</d></a>"},
      {"<pw s:secret='1'>hush</wp>", "<pw s:secret='1'>****</wp>"},
      {"<pw s:secret=\"false\">open</pw>", "<pw s:secret=\"false\">open</pw>"},
      {"pw: !secret \"hush\"\nb: open", "pw: !secret \"****\"\nb: open"},
      {"pw: !secret hush\nb: open", "pw: !secret ****\nb: open"},
      {"pw: !secret\n  a: hush\n\n  b: hush\nc: open", "pw: !secret\n  *******\n\n  *******\nc: open"},
      {"{secrets: {PW: \"hush\"}, b: \"open\"}", "{secrets: {**********}, b: \"open\"}"},
      {"\"secrets\": {\"PW\": \"hush\"}, \"b\": \"open\"", "\"secrets\": {************}, \"b\": \"open\""},
      {"secret: [environment.PW]\nenvironment:\n  PW: hush\n  B: open",
       "secret: [environment.PW]\nenvironment:\n  PW: ****\n  B: open"},
      {"a secret: of nobody, insensitive", "a secret: of nobody, insensitive"},
  };
  for (auto [text, stars] : kCases) EXPECT_EQ(shown_stars(std::string(text)), stars);
}

TEST(SecretMarks, WhatIsSaidOfThemHidesThemToo) {
  Sources sources;
  const Source* source = *sources.add("f", "<pw s:secret=\"true\">a&amp;b hush</pw> <oops>");
  Diagnostics diagnostics;
  diagnostics.error("T-1", source->pos(25), "`a&b hush` is wrong, and so is a&amp;b hush")
      .note("YSZiIGh1c2g= YSZiIGh1c2g");
  for (DiagnosticStyle style : {DiagnosticStyle::kExcerpt, DiagnosticStyle::kLine, DiagnosticStyle::kJson}) {
    std::string text = render(diagnostics, sources, style, false);
    for (std::string_view secret : {"hush", "YSZi"}) EXPECT_EQ(text.find(secret), std::string::npos) << text;
    EXPECT_NE(text.find("****"), std::string::npos) << text;
  }
}

// Marks in each other, and many on one line, take no more time than the text is long.
TEST(SecretMarks, ManyAreNoSquare) {
  for (std::string_view part : {"Sensitive(", "<a s:secret=\"1\">", ":secret=\"x\" ", "!secret |",
                                "secrets:", "[sfSecret] a {", "@secret(", "secret: [a]", "\"", "secret: ["}) {
    std::string text;
    while (text.size() < (1u << 20)) text += part;
    secret_marks(text);
  }
}

}  // namespace
}  // namespace tutti
