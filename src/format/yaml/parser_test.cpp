#include "format/yaml/parser.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace tutti::yaml {
namespace {

// Events as one line: `{` and `[` begin maps and lists, scalars stand between bars, documents end with `.`.
class Written : public Handler {
 public:
  void on(const Item& item) override {
    if (item.event == Event::kMapEnd) text += '}';
    if (item.event == Event::kListEnd) text += ']';
    if (item.event == Event::kDocumentEnd) text += '.';
    if (item.event == Event::kMapEnd || item.event == Event::kListEnd) return;
    if (!item.anchor.empty()) text += "&" + std::string(item.anchor) + " ";
    if (!item.tag.empty()) text += "<" + std::string(item.tag) + ">";
    if (item.event == Event::kMapStart) text += '{';
    if (item.event == Event::kListStart) text += '[';
    if (item.event == Event::kScalar)
      text += (item.plain ? "|" : "'") + std::string(item.value) + (item.plain ? "|" : "'");
    if (item.event == Event::kAlias) text += "*" + std::string(item.value) + " ";
  }
  std::string text;
};

std::string read(std::string_view text) {
  Written out;
  auto problem = Parser(text, out).parse();
  return problem ? "at " + std::to_string(problem->at) + ": " + std::string(problem->what) : out.text;
}

bool refused(std::string_view text) { return read(text).starts_with("at "); }

TEST(YamlParser, MapsAndLists) {
  EXPECT_EQ(read("a: 1\nb:\n  c: x y\n"), "{|a||1||b|{|c||x y|}}.");
  EXPECT_EQ(read("- a\n- - b\n  - c\n-   d: 1\n    e: 2\n"), "[|a|[|b||c|]{|d||1||e||2|}].");
  EXPECT_EQ(read("k:\n- a\n- b\nl: 1\n"), "{|k|[|a||b|]|l||1|}.");
  EXPECT_EQ(read("? a\n: b\n? c\n"), "{|a||b||c|||}.");
  EXPECT_EQ(read("? - a\n: - b\n"), "{[|a|][|b|]}.");
  EXPECT_EQ(read(": v\n"), "{|||v|}.");
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("# only this\n"), "");
}

TEST(YamlParser, Documents) {
  EXPECT_EQ(read("a\n---\nb\n...\n---\n--- c\n"), "|a|.|b|.||.|c|.");
  EXPECT_EQ(read("%YAML 1.2\n---\na\n...\n# end\n"), "|a|.");
  EXPECT_EQ(read("%TAG !e! tag:x,1:\n---\n!e!t%21 a\n"), "<tag:x,1:t!>|a|.");
  EXPECT_TRUE(refused("%YAML 1.2\na\n")) << "directives want ---";
  EXPECT_EQ(read("a\n%YAML 1.2\n---\nb\n"), "|a %YAML 1.2|.|b|.") << "a text goes on";
  EXPECT_TRUE(refused("a: b\n%YAML 1.2\n---\nb\n"));
  EXPECT_TRUE(refused("%YAML 1.2\n%YAML 1.2\n---\n"));
  EXPECT_TRUE(refused("%YAML 2.0\n---\n"));
  EXPECT_TRUE(refused("--- a: b\n"));
  EXPECT_TRUE(refused("a: b\nc\n"));
  EXPECT_TRUE(refused("!none!t a\n"));
}

TEST(YamlParser, FlowCollections) {
  EXPECT_EQ(read("[a, b: c, {d: e, f}, ]"), "[|a|{|b||c|}{|d||e||f|||}].");
  EXPECT_EQ(read("{\"a\":1, b: , : c, ? d}"), "{'a'|1||b||||||c||d|||}.");
  EXPECT_EQ(read("{a: [x]}: y\n"), "{{|a|[|x|]}|y|}.");
  EXPECT_EQ(read("[[a]: b, {c: d}: e]"), "[{[|a|]|b|}{{|c||d|}|e|}].");
  EXPECT_EQ(read("[?x, -y, :z]"), "[|?x||-y||:z|].");
  EXPECT_EQ(read("k: [\n  a,\n]\n"), "{|k|[|a|]}.") << "as people write it";
  EXPECT_EQ(read("{a\n: b}"), "{|a||b|}.");
  EXPECT_TRUE(refused("k: [a,\nb]\n"));
  EXPECT_TRUE(refused("[a\n: b]"));
  EXPECT_TRUE(refused("[a, , b]"));
  EXPECT_TRUE(refused("[,]"));
  EXPECT_TRUE(refused("[-]"));
  EXPECT_TRUE(refused("[a"));
  EXPECT_TRUE(refused("[a}"));
  EXPECT_TRUE(refused("[a]]"));
  EXPECT_TRUE(refused("[a,#b\n]"));
}

// What looks like a key only behind its end is a key when it ends on its line, however deep it is nested.
TEST(YamlParser, CollectionsAsKeysAreKnownAtTheirEnd) {
  EXPECT_EQ(read("&m\n&k [a]: b\n"), "&m {&k [|a|]|b|}.");
  EXPECT_EQ(read("&m\n[a]\n"), "&m [|a|].");
  EXPECT_EQ(read("&m\n[a,\n b]\n"), "&m [|a||b|].");
  EXPECT_TRUE(refused("[a,\n b]: c\n"));
  EXPECT_TRUE(refused("&m\n&k [a]\n"));
  std::string longest = "[" + std::string(1100, 'x') + "]";
  EXPECT_EQ(read("- &m\n  " + longest), "[&m [|" + std::string(1100, 'x') + "|]].");
  EXPECT_TRUE(refused(longest + ": a"));
  std::string nested, events;
  for (int i = 0; i < 2000; ++i) nested += "[", events += "[";
  nested += "a", events += "|a|";
  for (int i = 0; i < 2000; ++i) nested += "]", events += "]";
  EXPECT_EQ(read(nested), events + ".");
}

TEST(YamlParser, PlainText) {
  EXPECT_EQ(read("a: b # c\n"), "{|a||b|}.");
  EXPECT_EQ(read("a: b#c\n"), "{|a||b#c|}.");
  EXPECT_EQ(read("a:b: c:d\n"), "{|a:b||c:d|}.");
  EXPECT_EQ(read("a\n b\n\n\n c\n"), "|a b\n\nc|.");
  EXPECT_EQ(read("k: a\n  - b\n"), "{|k||a - b|}.");
  EXPECT_EQ(read("a: b\r\nc: d\r\n"), "{|a||b||c||d|}.");
  EXPECT_TRUE(refused("a: b: c\n"));
  EXPECT_TRUE(refused("a: - b\n"));
  EXPECT_TRUE(refused("a\nb: c\n"));
  EXPECT_TRUE(refused("a: @b\n"));
  EXPECT_TRUE(refused("a: `b`\n"));
  EXPECT_TRUE(refused("a # b\nc\n"));
  EXPECT_TRUE(refused("a: \x01\n"));
}

TEST(YamlParser, QuotedText) {
  EXPECT_EQ(read("'it''s'"), "'it's'.");
  EXPECT_EQ(read(R"("\x41\u00e9\U0001F600\t\\\"\/")"), "'A\u00e9\U0001F600\t\\\"/'.");
  EXPECT_EQ(read(R"("\ud83d\ude00")"), "'\U0001F600'.");
  EXPECT_EQ(read("\"a  \n\n  b\\\n   c \\  \n d\""), "'a\nbc   d'.");
  EXPECT_EQ(read("\"a\": b\n"), "{'a'|b|}.");
  EXPECT_EQ(read("a: \"b\n  c\"\n"), "{|a|'b c'}.");
  EXPECT_TRUE(refused("a: \"b\nc\"\n"));
  EXPECT_TRUE(refused("\"a\n---\nb\""));
  EXPECT_TRUE(refused("\"\\q\""));
  EXPECT_TRUE(refused("\"\\ud83d\""));
  EXPECT_TRUE(refused("\"a"));
  EXPECT_TRUE(refused("\"a\" b"));
  EXPECT_TRUE(refused("\"a\"#b"));
}

TEST(YamlParser, BlocksOfText) {
  EXPECT_EQ(read("|\n a\n  b\n\n c\n\n"), "'a\n b\n\nc\n'.");
  EXPECT_EQ(read("|-\n a\n"), "'a'.");
  EXPECT_EQ(read("|+\n a\n\n\n"), "'a\n\n\n'.");
  EXPECT_EQ(read(">\n a\n b\n\n c\n  d\n e\n"), "'a b\nc\n d\ne\n'.");
  EXPECT_EQ(read("k: |2\n    a\n  b\n"), "{|k|'  a\nb\n'}.");
  EXPECT_EQ(read("k: |\n\n\nl: 1\n"), "{|k|''|l||1|}.");
  EXPECT_EQ(read("--- |\n%a\n---\nb\n"), "'%a\n'.|b|.");
  EXPECT_EQ(read("k: |\n a"), "{|k|'a'}.") << "no line break was written";
  EXPECT_EQ(read("- |+\n   "), "['\n'].") << "white space alone is an empty line";
  EXPECT_EQ(read("--- |-"), "''.");
  EXPECT_TRUE(refused("k: |\n   \n a\n"));
  EXPECT_TRUE(refused("k: |# x\n a\n"));
  EXPECT_TRUE(refused("k: |--\n a\n"));
  EXPECT_TRUE(refused("k: |\n\ta\n"));
}

TEST(YamlParser, AnchorsAndTags) {
  EXPECT_EQ(read("a: &x 1\nb: *x\n"), "{|a|&x |1||b|*x }.");
  EXPECT_EQ(read("&m\n&k a: b\n"), "&m {&k |a||b|}.");
  EXPECT_EQ(read("&k a: b\n"), "{&k |a||b|}.");
  EXPECT_EQ(read("a: &l\n- b\n"), "{|a|&l [|b|]}.");
  EXPECT_EQ(read("!!str\n"), "<tag:yaml.org,2002:str>||.");
  EXPECT_EQ(read("- !<x:y> a\n- ! b\n- !l c\n"), "[<x:y>|a|<!>|b|<!l>|c|].");
  EXPECT_TRUE(refused("&a &b c\n"));
  EXPECT_TRUE(refused("&a\n&b c\n"));
  EXPECT_TRUE(refused("&a *b\n"));
  EXPECT_TRUE(refused("a: &b - c\n"));
  EXPECT_TRUE(refused("!!str, a\n"));
}

TEST(YamlParser, TabsDoNotIndent) {
  EXPECT_EQ(read("a:\tb\n"), "{|a||b|}.");
  EXPECT_EQ(read("a:\n \tb\n"), "{|a||b|}.");
  EXPECT_EQ(read("-\ta\n"), "[|a|].");
  EXPECT_TRUE(refused("a:\n\tb: c\n"));
  EXPECT_TRUE(refused("-\t- a\n"));
  EXPECT_TRUE(refused("-\ta: b\n"));
  EXPECT_TRUE(refused("a:\n\t- b\n"));
}

TEST(YamlParser, IndentationTellsWhatBelongsWhere) {
  EXPECT_TRUE(refused("a:\n  b: 1\n c: 2\n"));
  EXPECT_TRUE(refused("- a\n- b\n - c: d\n"));
  EXPECT_TRUE(refused("a: b\n  c: d\n"));
  EXPECT_TRUE(refused("- a\nb: c\n"));
}

// Whatever it is given, it ends, and says where it is wrong.
TEST(YamlParser, AnyTextIsReadOrRefused) {
  const std::vector<std::string> parts = {"a",  "- ",  "? ",  ": ",  "[",       "]",         "{",  "}",  ", ", "\n",
                                          "  ", "\n ", "&x ", "*x ", "|",       ">-",        "'",  "\"", "#",  " #",
                                          "\t", "!t ", "---", "...", "\n---\n", "%YAML 1.2", "\\", "é"};
  std::mt19937 random(11);
  u32 accepted = 0;
  for (u32 round = 0; round < 60'000; ++round) {
    std::string text;
    for (u32 n = 1 + random() % 14; n > 0; --n) text += parts[random() % parts.size()];
    Written out;
    auto problem = Parser(text, out).parse();
    if (problem) {
      ASSERT_LE(problem->at, text.size());
      ASSERT_FALSE(problem->what.empty());
    } else {
      ++accepted;
    }
  }
  EXPECT_GT(accepted, 3'000u);
}

}  // namespace
}  // namespace tutti::yaml
