#include "lang/cue/format/format.h"

#include <gtest/gtest.h>

#include "lang/cue/syntax/parser.h"

namespace tutti::cue {
namespace {

std::string fmt(std::string text, bool simplify = false) {
  Sources sources;
  const Source* source = *sources.add("x.cue", std::move(text));
  Arena arena;
  ParsedFile parsed = parse_file(*source, arena);
  EXPECT_TRUE(parsed.errors.empty()) << source->text;
  FormatOptions options;
  options.simplify = simplify;
  return format_node(parsed.file, options);
}

struct Case {
  const char *name, *in, *out;
};

TEST(CueFormat, Layout) {
  const Case cases[] = {
      {"columns", "a: 1\nlonger:   2 // x\nb:\t3 // y\n", "a:      1\nlonger: 2 // x\nb:      3 // y\n"},
      {"struct breaks the column", "a: 1\nbbb: {\nc: 1}\ndd: 2\n", "a: 1\nbbb: {\n\tc: 1\n}\ndd: 2\n"},
      {"one line stays", "a: {b:1,c:2}\n", "a: {b: 1, c: 2}\n"},
      {"empty", "a:{ }\nb:[ ]\n", "a: {}\nb: []\n"},
      {"blank lines", "\n\na: 1\n\n\n\nb: 2\n\n", "a: 1\n\nb: 2\n"},
      {"package and imports", "package p\nimport \"strings\"\na: 1\n", "package p\n\nimport \"strings\"\n\na: 1\n"},
      {"operators", "a: 1+2*3\nb: x[i+1]\nc: f(a+b,c)\nd: a&b|c\n",
       "a: 1 + 2*3\nb: x[i+1]\nc: f(a+b, c)\nd: a & b | c\n"},
      {"list lines", "a: [1,\n2,\n3]\n", "a: [1,\n\t2,\n\t3]\n"},
      {"nested labels", "a: b: c: 1\nd: 2\n", "a: b: c: 1\nd: 2\n"},
      {"comments", "// doc\na: 1 // line\n\n// lone\n", "// doc\na: 1 // line\n\n// lone\n"},
      {"numbers", "a: 1.\nb: .5\nc: 1E3\n", "a: 1.0\nb: 0.5\nc: 1e3\n"},
      {"multi-line string", "a: {\n  b: \"\"\"\n      x\n        y\n      \"\"\"\n}\n",
       "a: {\n\tb: \"\"\"\n\t\tx\n\t\t  y\n\t\t\"\"\"\n}\n"},
      {"comprehension", "for k,v in x if v>1 {\n\"\\(k)\": v}\n", "for k, v in x if v > 1 {\n\t\"\\(k)\": v\n}\n"},
      {"attributes", "a: 1 @x(y)\nbb: 22 @z()\n", "a:  1  @x(y)\nbb: 22 @z()\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(fmt(c.in), c.out) << c.name;
    EXPECT_EQ(fmt(c.out), c.out) << c.name << ": again";
  }
}

TEST(CueFormat, Simplify) {
  EXPECT_EQ(fmt("\"a\": {\"b\": 1}\n", true), "a: b: 1\n");
  EXPECT_EQ(fmt("\"a\": 1\nb: a\n", true), "\"a\": 1\nb:   a\n");
  EXPECT_EQ(fmt("a: {\n\t[string]: _\n\tb: 1\n}\n", true), "a: {\n\tb: 1\n\t...\n}\n");
}

}  // namespace
}  // namespace tutti::cue
