#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "lang/smartfrog/eval/core.h"
#include "lang/smartfrog/eval/encode.h"
#include "lang/smartfrog/production/production.h"
#include "lang/smartfrog/reference/reference.h"
#include "lang/smartfrog/syntax/format.h"
#include "lang/smartfrog/syntax/parser.h"
#include "lang/smartfrog/testing.h"
#include "lang/smartfrog/write.h"

// Texts nobody would write: sequences of tokens, some of them sensible. Whatever comes of them, it is a result or an
// error.
namespace tutti::smartfrog {
namespace {

Limits small_limits() {
  Limits limits;
  limits.nodes = 100'000;
  limits.steps = 500'000;
  limits.depth = 150;
  limits.errors = 60;
  return limits;
}

const char* const kTokens[] = {"a",
                               "b",
                               "c",
                               "sfConfig",
                               "a:b",
                               "b:c",
                               "a:b:c",
                               "extends",
                               "extends {",
                               "}",
                               "{",
                               "extends a",
                               "extends b, {",
                               ",",
                               ";",
                               ";",
                               ";",
                               "1",
                               "2L",
                               "1.5",
                               "2.5F",
                               "\"s\"",
                               "true",
                               "NULL",
                               "DATA a",
                               "[",
                               "]",
                               "[1, 2]",
                               "order a < b;",
                               "merge(",
                               ")",
                               "(",
                               "(a + 1)",
                               "LAZY a",
                               "PARENT:a",
                               "ROOT:a",
                               "THIS",
                               "ATTRIB a",
                               "HERE b",
                               "HOST x:y",
                               "OPTIONAL(1) q",
                               "PROPERTY user.name",
                               "TBD",
                               "-- 1;",
                               "[t1] a 1;",
                               "##x\n#",
                               "#HEX#00#",
                               "[| 1 |]",
                               "IF true THEN 1 ELSE 2 FI",
                               "SWITCH IF a THEN 1 ENDSWITCH",
                               "phase.function \"org.smartfrog.sfcore.languages.sf.ConstructFunction\";",
                               "sfFunctionClass \"org.smartfrog.sfcore.languages.sf.functions.Sum\";",
                               "sfFunctionClass \"org.smartfrog.sfcore.languages.sf.functions.Set\";",
                               "APPLY {",
                               "ASSERT {",
                               "+",
                               "++",
                               "==",
                               "&&",
                               "!",
                               "x|",
                               "->",
                               "#include \"nothing\"",
                               "\\u0061",
                               "/*",
                               "*/",
                               "// c\n",
                               "\n",
                               "\"",
                               "##",
                               "phaseList [| \"type\", \"place\" |];",
                               "VAR",
                               "CONSTANT \"java.lang.Math.PI\"",
                               "\xc3\xa9",
                               "\xff",
                               "sfConfig extends {",
                               "a extends {",
                               "b extends {"};

std::string soup(std::mt19937_64& random, Level level) {
  std::string text = random() % 2 ? "sfConfig extends { " : "";
  u64 n = random() % 40;
  u64 kinds = level == Level::kCore && random() % 4 ? 31 : std::size(kTokens);
  for (u64 i = 0; i < n; i++) {
    text += kTokens[random() % kinds];
    if (random() % 10) text += ' ';
  }
  if (random() % 2) {
    int open = 0;
    for (char c : text) open += c == '{' ? 1 : c == '}' ? -1 : 0;
    for (; open > 0; open--) text += " }";
  }
  return text;
}

void try_text(const std::string& text, Level level) {
  SCOPED_TRACE(text);
  Session session(small_limits());
  try {
    auto source = session.sources->add("x.sf", text);
    const Body* body = Parser(session, level, nullptr).parse(**source);
    if (!body) {
      ASSERT_FALSE(session.diagnostics.ok());
    } else {
      std::optional<Value> value;
      if (level == Level::kCore) {
        value = CoreCompiler(session).run(*body);
        auto expected = reference::evaluate(*body, session.arena);
        bool order = false;
        for (const Diagnostic& d : session.diagnostics.all()) order |= d.code == "SF-ORDER";
        if (!order) {
          ASSERT_EQ(std::holds_alternative<reference::V>(expected), value.has_value());
        }
      } else {
        production::Settings settings;
        settings.keep_links = text.size() % 2 == 0;
        value = production::Compiler(session, settings).run(*body);
        if (value) write_smartfrog(session, *value);
      }
      ASSERT_TRUE(value || !session.diagnostics.ok());
      if (value) encode_tree(session, *value);
    }
    render(session.diagnostics, *session.sources, DiagnosticStyle::kExcerpt, false);
    Session other(small_limits());
    auto again = other.sources->add("x.sf", text);
    if (auto once = format_source(other, **again, level)) {
      auto formatted = other.sources->add("y.sf", *once);
      auto twice = format_source(other, **formatted, level);
      ASSERT_TRUE(twice.has_value()) << *once;
      ASSERT_EQ(*twice, *once);
    }
  } catch (const LimitError&) {
  }
}

TEST(Hostile, TokenSoup) {
  const char* more = std::getenv("TUTTI_CAMPAIGN");
  u64 count = more ? std::strtoull(more, nullptr, 10) : 20'000;
  std::mt19937_64 random(7);
  for (u64 i = 0; i < count && !::testing::Test::HasFatalFailure(); i++) {
    Level level = i % 2 ? Level::kCore : Level::kProduction;
    try_text(soup(random, level), level);
  }
}

TEST(Hostile, SingleCases) {
  for (const char* text :
       {"",
        "{",
        "}",
        "extends",
        "extends {",
        "\"",
        "/*",
        "a",
        "a:",
        "a:b",
        "[",
        "sfConfig extends { a",
        "sfConfig extends merge(",
        "order a <",
        "#include",
        "#include \"",
        "##",
        "#HEX#",
        "#HEX#0#",
        "x|",
        "--",
        "-",
        "9999999999999999999999999",
        "1e999",
        "-1e-999",
        "a 1e999D; sfConfig extends { b a; c (a - a); }",
        "sfConfig extends { a (-2147483648 / -1); b (-2147483648 % -1); c (1L / 0L); }",
        "sfConfig extends { s APPLY { sfFunctionClass \"org.smartfrog.sfcore.languages.sf.functions.Set\"; setSize "
        "1000000000; setElem extends {}; } }",
        "sfConfig extends { s extends { phase.function \"org.smartfrog.sfcore.languages.sf.ConstructFunction\"; "
        "sfFunctionClass "
        "\"org.smartfrog.sfcore.languages.sf.functions.Set\"; setSize 1000000000; setElem extends {} } }"}) {
    try_text(text, Level::kCore);
    try_text(text, Level::kProduction);
  }
}

// Each level has the one before it twice: what is the same is looked at once, and what grows is counted.
TEST(Hostile, Doubling) {
  auto doubled = [](std::string text, const std::string& level) {
    for (int i = 1; i <= 60; i++) text += fmt::format(fmt::runtime(level), fmt::arg("n", i), fmt::arg("b", i - 1));
    return text;
  };
  const std::string twice = "P{n} extends {{ x extends P{b}; y extends P{b}; }} ";
  EXPECT_EQ(run_text(doubled("P0 extends { a 1; } ", twice) + "sfConfig extends P60;", "production").codes,
            "LIMIT-NODES");
  EXPECT_EQ(run_text(doubled("P0 extends Missing { a 1; } ", twice) + "sfConfig extends P60;", "production").codes,
            "SF-TYPE");
  EXPECT_EQ(
      run_text(doubled("P0 extends Q { a 1; } Q extends P0 { b 1; } ", twice) + "sfConfig extends P60;", "production")
          .codes,
      "SF-TYPE");
  EXPECT_EQ(run_text(doubled("sfConfig extends { v0 [1, 2]; ", "v{n} [v{b}, v{b}]; ") + "}", "production").codes,
            "LIMIT-NODES");
  Limits limits;
  limits.memory = u64{64} << 20;
  std::string texts = doubled("sfConfig extends { v0 \"ab\"; ", "v{n} (v{b} ++ v{b}); ") + "}";
  EXPECT_EQ(run_text(texts, "production", false, limits).codes, "LIMIT-MEMORY");
}

}  // namespace
}  // namespace tutti::smartfrog
