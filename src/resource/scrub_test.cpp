#include "resource/scrub.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "tree/secret_mark.h"

namespace tutti::resource {
namespace {

const std::string kWord = "Kanarienvogel?7>319~";

std::string base64(std::string text, bool url) {
  text = base64_encode(text);
  for (char& c : text)
    if (url) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

TEST(Scrubbing, Base64IsKnownWhereverItBegins) {
  Scrubber scrub(Value::string(kWord).as_secret());
  for (bool url : {false, true})
    for (std::string before : {"", "x", "yz", "abc", "user:"})
      for (std::string after : {"", "x", "yz", "@host"}) {
        std::string whole = base64(before + kWord + after, url), bare = whole;
        while (bare.ends_with('=')) bare.pop_back();
        for (const std::string& text : {whole, bare}) {
          EXPECT_TRUE(scrub.has_secret(text)) << text;
          std::string clean = scrub.clean("<" + text + ">");
          // Of what is around it all but the digits that it shares with it.
          std::size_t at = clean.find("(secret)");
          ASSERT_NE(at, std::string::npos) << clean;
          EXPECT_EQ(clean.substr(1, at - 1), base64(before, url).substr(0, before.size() * 8 / 6)) << clean;
          EXPECT_LE(clean.size() - at - 9, (after.size() * 8 + 5) / 6 + 2) << clean;
        }
      }
}

TEST(Scrubbing, LinesThatWereCutAreOne) {
  std::string secret;
  for (int i = 0; i < 40; ++i) secret += fmt::format("{}-", i * 7919);
  Scrubber scrub(Value::string(secret).as_secret());
  std::string encoded = base64_encode("password: " + secret), wrapped;
  for (std::size_t i = 0; i < encoded.size(); i += 76) wrapped += encoded.substr(i, 76) + "\n";
  EXPECT_EQ(scrub.clean("before\n" + wrapped + "after\n"), "before\ncGFzc3dvcmQ6I(secret)\nafter\n");
}

TEST(Scrubbing, HexadecimalAndUrls) {
  Scrubber scrub(Value::string("p w&1/\xc3\xa9").as_secret());
  EXPECT_EQ(scrub.clean("7020772631 70207726312fc3a9."), "7020772631 (secret).");
  EXPECT_EQ(scrub.clean("ab70207726312FC3A9"), "ab(secret)");
  EXPECT_EQ(scrub.clean(" 70 20 77 26\n 31 2f c3 a9 0a\n"), " (secret) 0a\n");
  EXPECT_EQ(scrub.clean("70:20:77:26:31:2F:C3:A9"), "(secret)");
  for (std::string_view url :
       {"p%20w%261%2F%C3%A9", "p%20w%261/%c3%a9", "p+w%261%2f%C3%A9", "%70%20%77%26%31%2f%c3%a9"})
    EXPECT_EQ(scrub.clean(fmt::format("http://u:{}@h/50%", url)), "http://u:(secret)@h/50%");
}

TEST(Scrubbing, ShortOnesAndOthersAreLeft) {
  Scrubber scrub(Value::string("abc").as_secret());
  EXPECT_EQ(scrub.clean("abc YWJj 616263"), "abc YWJj 616263");
  Scrubber four(Value::string("true").as_secret());
  EXPECT_EQ(four.clean("rue dHJ YWxsIHRoZXNlIHdvcmRz 74727565"), "rue dHJ YWxsIHRoZXNlIHdvcmRz (secret)");
  EXPECT_EQ(Scrubber(Value::string("longer")).clean("longer bG9uZ2Vy"), "longer bG9uZ2Vy");
}

TEST(Scrubbing, WhatOverlapsIsOne) {
  std::vector<Value> two{Value::string("hunter").as_secret(), Value::string("ter22").as_secret()};
  Arena arena;
  Scrubber scrub(TreeBuilder(arena).list(two));
  EXPECT_EQ(scrub.clean("a hunter22 b hunter c"), "a (secret) b (secret) c");
}

TEST(Scrubbing, ATextWithASecretInItIsNotOneItself) {
  Arena arena;
  TreeBuilder b(arena);
  std::vector<Value> both{Value::string("rm hunter2").as_secret(), Value::string("hunter2").as_secret()};
  Scrubber scrub(b.list(both));
  EXPECT_TRUE(secret_itself(scrub.marked(b.string("rm hunter2"), b)));
  EXPECT_TRUE(secret_itself(scrub.marked(b.string("hunter2"), b)));
  Value made = scrub.marked(b.string("ls hunter2"), b);
  EXPECT_TRUE(made.secret() && !secret_itself(made));
  EXPECT_TRUE(secret_itself(scrub.marked(b.string("ls hunter2").as_secret(), b)));
  EXPECT_FALSE(scrub.marked(b.string("ls"), b).secret());
}

}  // namespace
}  // namespace tutti::resource
