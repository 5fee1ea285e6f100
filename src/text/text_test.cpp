#include <gtest/gtest.h>

#include "text/diagnostic.h"
#include "text/edit.h"
#include "text/source.h"

namespace tutti {
namespace {

TEST(Sources, LocatesEveryByte) {
  Sources sources;
  const Source* a = sources.add("a", "one\ntwo é x\r\n\nlast").value();
  const Source* b = sources.add("b", "").value();
  const Source* c = sources.add("c", "x").value();
  Location l = sources.locate(a->pos(0));
  EXPECT_EQ(l.file, "a");
  EXPECT_EQ(l.line, 1u);
  EXPECT_EQ(l.column, 1u);
  EXPECT_EQ(l.text, "one");
  l = sources.locate(a->pos(11));  // the x after é
  EXPECT_EQ(l.line, 2u);
  EXPECT_EQ(l.column, 7u);
  EXPECT_EQ(l.byte, 8u);
  EXPECT_EQ(l.text, "two é x");
  EXPECT_EQ(sources.show(a->pos(14)), "a:3:1");
  EXPECT_EQ(sources.show(a->pos(a->text.size())), "a:4:5");  // the place after the last byte
  EXPECT_EQ(sources.show(b->first), "b:1:1");
  EXPECT_EQ(sources.show(c->first), "c:1:1");
  EXPECT_EQ(sources.show(Pos{}), "");
  EXPECT_EQ(sources.find(c->first), c);
}

TEST(Sources, ColumnsInLongLines) {
  std::string text = "first\n";
  for (int i = 0; i < 3000; i++) text += "aé";
  Sources sources;
  const Source* s = sources.add("s", text).value();
  for (std::size_t n : {0u, 1u, 500u, 1024u, 2047u, 2999u}) {
    Location l = sources.locate(s->pos(6 + 3 * n));
    EXPECT_EQ(l.line, 2u);
    EXPECT_EQ(l.column, 2 * n + 1);
    EXPECT_EQ(l.byte, 3 * n + 1);
  }
}

TEST(Diagnostics, CountsPastItsLimit) {
  Diagnostics diagnostics(2);
  for (int i = 0; i < 5; i++) diagnostics.error("X", {}, "wrong").note("more");
  EXPECT_EQ(diagnostics.errors(), 5u);
  EXPECT_EQ(diagnostics.all().size(), 2u);
  EXPECT_EQ(diagnostics.left_out(), 3u);
  EXPECT_NE(render(diagnostics, Sources{}, DiagnosticStyle::kLine, false).find("3 more"), std::string::npos);
}

TEST(Diagnostics, ShowsTheLineWithACaret) {
  Sources sources;
  const Source* s = sources.add("f", "a\n\tb漢: wrong here\n").value();
  Diagnostics diagnostics;
  diagnostics.error("T-1", s->span(9, 14), "no").relate(s->span(0, 1), "see").note("because").suggest("do");
  EXPECT_EQ(render(diagnostics, sources, DiagnosticStyle::kExcerpt, false),
            "error[T-1]: no\n"
            " --> f:2:6\n"
            "2 |  b漢: wrong here\n"
            "  |       ^^^^^\n"
            " ::: f:1:1\n"
            "1 | a\n"
            "  | - see\n"
            "  = note: because\n"
            "  = help: do\n");
  EXPECT_EQ(render(diagnostics, sources, DiagnosticStyle::kLine, false), "f:2:6: error[T-1]: no; f:1:1: see; do\n");
}

TEST(Diagnostics, AreSafeForATerminalAndForJson) {
  Sources sources;
  const Source* s = sources.add("f", "x \x1b[31m\xff y").value();
  Diagnostics diagnostics;
  diagnostics.error("T", s->pos(0), "bad \"quote\" \xff \x1b[0m");
  std::string text = render(diagnostics, sources, DiagnosticStyle::kExcerpt, false);
  EXPECT_EQ(text.find("\x1b[31m"), std::string::npos);
  EXPECT_EQ(text.find("\x1b[0m"), std::string::npos);
  std::string json = render(diagnostics, sources, DiagnosticStyle::kJson, false);
  EXPECT_EQ(json.find('\x1b'), std::string::npos);
  EXPECT_NE(json.find("\\\"quote\\\" \\ufffd \\u001b"), std::string::npos);
}

TEST(Diagnostics, CutsALongLineAroundTheCaret) {
  Sources sources;
  const Source* s = sources.add("f", std::string(100'000, 'a') + "HERE" + std::string(100'000, 'b')).value();
  Diagnostics diagnostics;
  diagnostics.error("T", s->span(100'000, 100'004), "no");
  std::string text = render(diagnostics, sources, DiagnosticStyle::kExcerpt, false);
  EXPECT_LT(text.size(), 600u);
  EXPECT_NE(text.find("HERE"), std::string::npos);
  EXPECT_NE(text.find("^^^^"), std::string::npos);
}

TEST(Diagnostics, CutsALongLineThatIsNotUtf8) {
  Sources sources;
  const Source* source = *sources.add("f", std::string(1000, '\x80') + "\n");
  for (std::size_t at : {0u, 1u, 200u, 500u, 999u, 1000u}) {
    Diagnostics diagnostics;
    diagnostics.error("T-1", source->span(at, at + 1), "no");
    EXPECT_NE(render(diagnostics, sources, DiagnosticStyle::kExcerpt, false).find('^'), std::string::npos) << at;
  }
}

TEST(Edits, ApplyInAnyOrder) {
  EXPECT_EQ(apply_edits("abcdef", {{4, 5, "E"}, {0, 1, ""}, {2, 2, "--"}}), "b--cdEf");
  EXPECT_EQ(apply_edits("", {{0, 0, "x"}}), "x");
}

TEST(UnifiedDiff, LooksAsPatchExpects) {
  EXPECT_EQ(unified_diff("a\n", "a\n", "x", "y"), "");
  EXPECT_EQ(unified_diff("a\nb\nc\n", "a\nB\nc\n", "x", "y"), "--- x\n+++ y\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
  EXPECT_EQ(unified_diff("", "n\n", "x", "y"), "--- x\n+++ y\n@@ -0,0 +1,1 @@\n+n\n");
  EXPECT_EQ(unified_diff("a", "b", "x", "y"),
            "--- x\n+++ y\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n");
}

}  // namespace
}  // namespace tutti
