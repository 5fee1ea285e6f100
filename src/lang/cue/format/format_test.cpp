#include "lang/cue/format/format.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "lang/cue/format/literal.h"
#include "lang/cue/format/walk.h"
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

// What a file says: its tokens without commas, comments and the layout of multi-line strings.
struct Tokens {
  bool ok = false;
  std::vector<std::string> list;
};
Tokens tokens(const std::string& text) {
  Sources sources;
  const Source* source = *sources.add("x.cue", text);
  Arena arena;
  Tokens out;
  ParsedFile parsed = parse_file(*source, arena);
  out.ok = parsed.errors.empty() && parsed.file;
  if (!out.ok) return out;
  auto walk = [&](auto& self, ast::Node* n) -> void {
    std::string what = std::to_string(static_cast<int>(n->kind));
    if (n->kind == ast::Kind::kIdent) what += ast::as<ast::Ident>(n)->name.text();
    if (n->kind == ast::Kind::kBinary) what += token_text(ast::as<ast::Binary>(n)->op);
    if (n->kind == ast::Kind::kUnary) what += token_text(ast::as<ast::Unary>(n)->op);
    if (n->kind == ast::Kind::kAttribute) what += ast::as<ast::Attribute>(n)->text;
    if (n->kind == ast::Kind::kLit) {
      auto* lit = ast::as<ast::Lit>(n);
      if (lit->tok == Tok::kInt || lit->tok == Tok::kFloat)
        what += parse_number(lit->text).value.text();
      else if (Unquoted u = unquote(lit->text); u.ok())
        what += u.text;
    }
    out.list.push_back(what);
    for_children(n, [&](ast::Node* c) { self(self, c); });
    out.list.push_back("/");
  };
  walk(walk, parsed.file);
  return out;
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
      {"depth follows the line of the bracket", "a: x & {\nb: [{\nc: 1}, {\nd: 2}]\n} & {\ne: 1}\n",
       "a: x & {\n\tb: [{\n\t\tc: 1\n\t}, {\n\t\td: 2\n\t}]\n} & {\n\te: 1\n}\n"},
      {"continued lines", "a: x &\n  y |\n z\nb:\n c |\n d\n", "a: x &\n\ty |\n\tz\nb:\n\tc |\n\td\n"},
      {"trailing commas", "a: [1,\n2\n]\nb: f(1,\n 2\n)\nc: [\n1\n]\n",
       "a: [1,\n\t2,\n]\nb: f(1,\n\t2,\n\t)\nc: [\n\t1\n]\n"},
      {"comments stay where they are", "a: { // one\n b: 1 // two\n // three\n}\nc: x & // four\n y\n",
       "a: {// one\n\tb: 1 // two\n\n\t// three\n}\nc: x &\n\ty // four\n"},
      {"a label before its value", "a:\n b:\n  c: 2\nd: 3\n", "a:\n\tb:\n\t\tc: 2\nd: 3\n"},
      {"braces where an attribute would change its field", "a: b: 1 @x()\n", "a: {\n\tb: 1 @x()\n}\n"},
      {"no commas where one is missing", "a: [\n1\n2,\n3\n]\n", "a: [\n\t1\n\t2\n\t3\n]\n"},
      {"imports on one line keep their commas", "import (\"a\", \"b\")\n", "import (\"a\", \"b\")\n"},
      {"a section after a definition", "#x: 1\na: 2 // why\n", "#x: 1\n\na: 2 // why\n"},
      {"signs apart", "e: x[a+ +b]\n", "e: x[a + +b]\n"},
      {"postfix aliases", "@experiment(aliasv2)\na~X: 1\nb~(K, V): 2\n",
       "@experiment(aliasv2)\na~(X):   1\nb~(K,V): 2\n"},
      {"labels in a row are a table of their own", "a: b: 1\nccc: d: 2\ne: 3\nffff: 4\n",
       "a: b:   1\nccc: d: 2\ne:    3\nffff: 4\n"},
      {"tight in brackets", "a: x[i+1 : j]\nb: f(a*b+c, d)\nc: x == y+z\nd: (x+y)*2\n",
       "a: x[i+1 : j]\nb: f(a*b+c, d)\nc: x == y+z\nd: (x + y) * 2\n"},
      {"no tokens run together", "[N= =~\"b\"]: 1\n", "[N= =~\"b\"]: 1\n"},
      {"attributes", "a: 1 @x(y)\nbb: 22 @z()\n", "a:  1  @x(y)\nbb: 22 @z()\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(fmt(c.in), c.out) << c.name;
    EXPECT_EQ(fmt(c.out), c.out) << c.name << ": again";
  }
}

TEST(CueFormat, MadeTreesGetTheirParentheses) {
  Arena arena;
  auto name = [&](const char* n) { return arena.make<ast::Ident>(TokenPos{}, Symbol(n)); };
  auto* either = arena.make<ast::Binary>(name("a"), TokenPos{}, Tok::kOr, name("b"));
  auto* both = arena.make<ast::Binary>(either, TokenPos{}, Tok::kAnd, name("c"));
  EXPECT_EQ(format_node(both), "(a | b) & c");
  EXPECT_EQ(format_node(arena.make<ast::Selector>(both, TokenPos{}, name("d"))), "((a | b) & c).d");
}

// Whatever CUE lies around: formatting does not change what the text says. (A second time it may change the layout, as
// cue's does: simplified, lines that had braces come into columns.)
TEST(CueFormat, EveryFileOfTheRepository) {
  namespace fs = std::filesystem;
  fs::path root = TUTTI_SOURCE_DIR;
  std::vector<fs::path> roots{root / "fuzz", root / "examples", root / "tests", root / "schema"};
  const char* cases = std::getenv("TUTTI_CONFORMANCE");
  roots.push_back((cases ? fs::path(cases) : root.parent_path() / "shared/conformance") / "cue");
  int files = 0;
  for (const fs::path& r : roots) {
    if (!fs::exists(r)) continue;
    for (const auto& e : fs::recursive_directory_iterator(r)) {
      if (e.path().extension() != ".cue") continue;
      std::ifstream in(e.path(), std::ios::binary);
      std::string text{std::istreambuf_iterator<char>(in), {}};
      Tokens before = tokens(text);
      if (!before.ok) continue;
      ++files;
      std::string once = fmt(text);
      EXPECT_EQ(fmt(once), once) << e.path();
      EXPECT_EQ(tokens(once).list, before.list) << e.path();
      EXPECT_TRUE(tokens(fmt(text, true)).ok) << e.path();
    }
  }
  EXPECT_GT(files, 4);
}

TEST(CueFormat, Simplify) {
  EXPECT_EQ(fmt("\"a\": {\"b\": 1}\n", true), "a: b: 1\n");
  EXPECT_EQ(fmt("\"a\": 1\nb: a\n", true), "\"a\": 1\nb:   a\n");
  EXPECT_EQ(fmt("#F: 1\n\"#F\": 2\n", true), "#F:   1\n\"#F\": 2\n");
  EXPECT_EQ(fmt("a: {\n\t[string]: _\n\tb: 1\n}\n", true), "a: {\n\tb: 1\n\t...\n}\n");
}

}  // namespace
}  // namespace tutti::cue
