#include "lang/smartfrog/syntax/format.h"

#include <gtest/gtest.h>

#include "lang/smartfrog/eval/core.h"
#include "lang/smartfrog/reference/random_spec.h"
#include "lang/smartfrog/syntax/parser.h"

namespace tutti::smartfrog {
namespace {

std::string formatted(const std::string& text, Level level = Level::kProduction) {
  Session session;
  auto source = session.sources->add("x.sf", text);
  auto out = format_source(session, **source, level);
  return out ? *out : "error: " + render(session.diagnostics, *session.sources, DiagnosticStyle::kLine, false);
}

TEST(Format, LaysOutBlocks) {
  EXPECT_EQ(formatted("sfConfig   extends{a 1;b extends {\nc  [ 1,2 ];}\n\n\n d x : y;}"),
            "sfConfig extends {\n  a 1;\n  b extends {\n    c [1, 2];\n  }\n\n  d x:y;\n}\n");
  EXPECT_EQ(formatted("a extends P { x 1; }\nb extends {}"), "a extends P { x 1; }\nb extends {}\n");
}

TEST(Format, KeepsComments) {
  std::string text =
      "// about a\na 1; // one\n/* b\n * is two\n */\nb /* here */ 2;\nc extends {\n  // nothing yet\n}\n// the end\n";
  EXPECT_EQ(formatted(text), text);
}

TEST(Format, Expressions) {
  EXPECT_EQ(formatted("a ( 1 + 2 ) ;\nb OPTIONAL ( 5 ) x:y;\n-- 3;\n[ t1 , t2 ] c IF ( a >1 ) THEN 1 ELSE 2 FI;"),
            "a (1 + 2);\nb OPTIONAL(5) x:y;\n-- 3;\n[t1, t2] c IF (a > 1) THEN 1 ELSE 2 FI;\n");
}

// Formatting again changes nothing, and what is formatted means the same.
TEST(Format, IdempotentAndMeaningKept) {
  for (u64 seed = 1; seed <= 300; seed++) {
    reference::RandomSpec options;
    options.seed = seed;
    options.merge = seed % 3 == 0;
    std::string text = reference::random_spec(options);
    std::string once = formatted(text, Level::kCore);
    ASSERT_EQ(formatted(once, Level::kCore), once) << text;
    auto value = [](const std::string& t, Session& s) {
      auto source = s.sources->add("x.sf", t);
      const Body* body = Parser(s, Level::kCore, nullptr).parse(**source);
      return body ? CoreCompiler(s).run(*body) : std::nullopt;
    };
    Session a, b;
    auto before = value(text, a), after = value(once, b);
    ASSERT_EQ(before.has_value(), after.has_value());
    if (before) {
      ASSERT_TRUE(equal(*before, *after, true));
    }
  }
}

}  // namespace
}  // namespace tutti::smartfrog
