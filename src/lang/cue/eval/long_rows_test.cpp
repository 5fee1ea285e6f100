#include <gtest/gtest.h>

#include "lang/cue/load/instance.h"

// Fields that refer to each other in long rows.
namespace tutti::cue {
namespace {

// The value of one field, or the first error.
std::string field(const std::string& text, std::string_view name) {
  Session session;
  auto source = session.sources->add("test.cue", text);
  Instance instance(session);
  const Source* one[] = {*source};
  if (!instance.load_sources(one)) return "not compiled";
  Vertex* root = instance.evaluate();
  if (Bottom* b = root->bottom())
    for (const FlatError& e : flatten(b)) return e.path + ": " + e.message;
  Vertex* v = root->find_raw(Label::string(name));
  return v ? compact(v) : "none";
}

std::string row(int n, bool backward, const std::string& first) {
  std::string out = backward ? "" : "v0: " + first + "\n";
  for (int k = 1; k < n; ++k) {
    int i = backward ? n - k : k;
    out += "v" + std::to_string(i) + ": v" + std::to_string(i - 1) + " + 1\n";
  }
  return backward ? out + "v0: " + first + "\n" : out;
}

TEST(CueLongRows, BackwardAsForward) {
  for (int n : {2, 63, 64, 65, 66, 1000}) {
    std::string last = "v" + std::to_string(n - 1), value = std::to_string(n + 6);
    for (bool backward : {false, true}) EXPECT_EQ(field(row(n, backward, "7"), last), value) << n;
  }
}

// Deeper than evaluations may be inside each other.
TEST(CueLongRows, NoDeeperThanAFew) { EXPECT_EQ(field(row(50'000, true, "1"), "v49999"), "50000"); }

TEST(CueLongRows, EndWhereTheyBegin) {
  for (bool backward : {false, true}) {
    for (std::string found : {field(row(300, backward, "v299 + 1"), "v299"), field(row(3, backward, "v2 + 1"), "v2")})
      EXPECT_TRUE(found.starts_with("_|_(cycle with field: v")) << found;
    EXPECT_EQ(field(row(300, backward, "v299 - 299") + "v150: 157\n", "v299"), "306");
  }
}

TEST(CueLongRows, ThroughInterpolationsAndSelectors) {
  std::string text;
  for (int i = 500; i > 0; --i) {
    std::string one = std::to_string(i), before = std::to_string(i - 1);
    text += "s" + one + ": {n: s" + before + ".n + 1}\nt" + one + ": \"\\(t" + before + ")x\"\n";
  }
  text += "s0: {n: 0}\nt0: \"\"\n";
  EXPECT_EQ(field(text, "s500"), "{n:500}");
  EXPECT_EQ(field(text, "t500"), "\"" + std::string(500, 'x') + "\"");
}

// Definitions that are embedded in others are evaluated before them, where they are many.
TEST(CueLongRows, EmbeddedOnesFirst) {
  constexpr int kMany = 255;
  for (bool backward : {false, true}) {
    std::string text;
    for (int i = 0; i < kMany; ++i) {
      int k = backward ? i : kMany - 1 - i;
      text += "#T" + std::to_string(k) + ": {";
      for (int below : {2 * k + 1, 2 * k + 2})
        if (below < kMany) text += "#T" + std::to_string(below) + ", ";
      text += "f" + std::to_string(k) + ": int}\n";
    }
    EXPECT_EQ(field(text + "v: #T63 & {f63: 1}\n", "v"), "{f63:1,f127:int,f128:int}");
    EXPECT_EQ(field(text + "v: #T127 & {f0: 1}\n", "v"), "v.f0: field not allowed");
    EXPECT_EQ(field(text + "#T200: f200: \"a\"\n", "v"),
              std::string(backward ? "#T0" : "#T200") +
                  ".f200: conflicting values int and \"a\" (mismatched types int and string)");
  }
}

}  // namespace
}  // namespace tutti::cue
