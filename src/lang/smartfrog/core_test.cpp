#include <gtest/gtest.h>

#include "lang/smartfrog/reference/reference.h"
#include "lang/smartfrog/syntax/parser.h"
#include "lang/smartfrog/testing.h"

namespace tutti::smartfrog {
namespace {

std::string core(const std::string& text) {
  Outcome o = run_text(text, "core");
  return o.tree.empty() ? o.codes : o.tree;
}

TEST(Core, TheExampleOfThePaper) {
  EXPECT_EQ(core(R"(
    Machine extends { dns "ns.foo"; }
    Service extends { running true; port 80; }
    sfConfig extends {
      s1 extends Machine, { web extends Service }
      s2 extends s1, { web:running false; }
      pc1 extends Machine, { refer DATA s1:web; }
      pc2 pc1;
    })"),
            "{s1:{dns:\"ns.foo\", web:{running:true, port:80}}, s2:{dns:\"ns.foo\", web:{running:false, port:80}}, "
            "pc1:{dns:\"ns.foo\", refer:@s1:web}, pc2:{dns:\"ns.foo\", refer:@s1:web}}");
}

TEST(Core, ErrorsByNumber) {
  EXPECT_EQ(core("sfConfig extends { c 3; c:d 4; }"), "SF-1");
  EXPECT_EQ(core("sfConfig extends { c:d 4; }"), "SF-2");
  EXPECT_EQ(core("sfConfig extends { P \"oops\"; Q extends P, { test 2; } }"), "SF-4");
  EXPECT_EQ(core("sfConfig extends nobody"), "SF-4");
  EXPECT_EQ(core("sfConfig extends { a b; b 1; }"), "SF-5");
  EXPECT_EQ(core("a 1;"), "SF-7");
  EXPECT_EQ(core("sfConfig [1];"), "SF-7");
}

TEST(Core, ErrorsThatFollowFromOthersAreNotReported) {
  EXPECT_EQ(core("sfConfig extends { a nope; b a; c extends a, { x 1; } c:y b; d missing; }"), "SF-5 SF-5");
  EXPECT_EQ(core("sfConfig extends { a extends nope, { x 1; } b a:inherited; a:sub:deep 1; }"), "SF-4");
}

TEST(Core, ErrorNamesWhatWasProbablyMeant) {
  Outcome o = run_text("server extends { port 80; }\nsfConfig extends sever", "core");
  EXPECT_NE(o.diagnostics.find(":2:18:"), std::string::npos) << o.diagnostics;
}

// Section 7.1: cyclic prototypes and links end, as snapshots (figure 8 among them).
TEST(Core, CyclesEnd) {
  EXPECT_EQ(core("sfConfig extends { a extends sfConfig }"), "{a:{a:{}}}");
  EXPECT_EQ(core("sfConfig extends { comp1 extends { comp2 comp1; } }"), "{comp1:{comp2:{}}}");
  EXPECT_EQ(core("sfConfig extends { k 1; a extends sfConfig, { k 2; m extends a } }"), "{k:1, a:{k:2, a:{}, m:{}}}");
}

// Lemma 1 and 2 on the reference's own functions.
TEST(Core, PutAndBindKeepIdentifiersUnique) {
  using namespace reference;
  Store s = nullptr;
  Symbol a("a"), b("b");
  V one{false, Value::integer(1), nullptr};
  for (int i = 0; i < 3; i++) {
    s = put(s, a, one);
    s = put(s, b, V{true, {}, s});
    s = reference::bind(s, {b, a}, one, {});
    EXPECT_TRUE(unique_identifiers(V{true, {}, s}));
  }
}

TEST(Core, OperatorsOnReferences) {
  using namespace reference;
  Symbol a("a"), b("b"), c("c");
  EXPECT_EQ(reference::minus({a, b, c}, {a, b}), Ref({c}));
  EXPECT_EQ(reference::minus({a, b}, {c}), Ref({a, b}));  // the misprint of definition 8
  EXPECT_TRUE(is_prefix({a}, {a, b}));
  EXPECT_FALSE(is_strict_prefix({a, b}, {a, b}));
  EXPECT_EQ(prefix({a, b, c}), Ref({a, b}));
  EXPECT_TRUE(same(reference::concat({a}, {b}), {a, b}));
}

TEST(Core, CopiesDoNotFollowTheirOriginals) {
  EXPECT_EQ(core("sfConfig extends { a extends { x 1; } b a; a:x 2; b:y 3; }"), "{a:{x:2}, b:{x:1, y:3}}");
  EXPECT_EQ(
      core("P extends { n extends { v 1; } } sfConfig extends { a extends P b extends P, { n:v 2; } c extends b }"),
      "{a:{n:{v:1}}, b:{n:{v:2}}, c:{n:{v:2}}}");
}

TEST(Core, MergeComposesSubComponents) {
  EXPECT_EQ(core("p1 extends { q1 1; q4 extends { a 1; b 2; } } sfConfig extends p1, merge({ q1 2; q4 extends { b 3; c "
                 "4; } })"),
            "{q1:2, q4:{a:1, b:3, c:4}}");
  EXPECT_EQ(core("A extends { n extends { a 1; } } B extends { n extends { b 2; } } sfConfig extends A, merge(B)"),
            "{n:{a:1, b:2}}");
  EXPECT_EQ(core("A extends { n extends { a 1; } } B extends { n extends { b 2; } } sfConfig extends A, B"),
            "{n:{b:2}}");
}

TEST(Core, OrderRules) {
  EXPECT_EQ(
      core("default extends { order private < public; public 1; private 2; } sfConfig extends { d extends default }"),
      "{d:{private:2, public:1}}");
  EXPECT_EQ(core("default extends { order private < public; private 1; public 2; }"
                 "sfConfig extends { t extends default, { order public < private; public 3; private 4; } }"),
            "{t:{public:3, private:4}}");
  EXPECT_EQ(core("sfConfig extends { order c < a; order nobody < b; a 1; b 2; c 3; }"), "{c:3, b:2, a:1}");
  EXPECT_EQ(core("sfConfig extends { order a < b < c, c < a; a 1; b 2; c 3; }"), "SF-ORDER");
  EXPECT_EQ(core("sfConfig extends { x 1; order x; }"), "{x:1, order:1}");
}

TEST(Core, ChangedOrderIsToldOnceForEachCause) {
  std::string text =
      "default extends { private 1; public 2; }\n"
      "sfConfig extends {\n"
      "  t1 extends default, { public 3; private 4; }\n"
      "  t2 extends default, { public 3; private 4; }\n"
      "  t3 extends t1, { private 4; public 3; }\n"
      "}";
  Outcome o = run_text(text, "core");
  EXPECT_EQ(o.codes, "SF-ORDER-CHANGED");
  EXPECT_NE(o.diagnostics.find(":3:"), std::string::npos) << o.diagnostics;
  EXPECT_EQ(run_text("sfConfig extends { a 1; b 2; a 3; }", "core").codes, "");
}

TEST(Core, WhatTheLevelsDoDifferentlyIsAWarning) {
  EXPECT_EQ(run_text("v 1; sfConfig extends { v 2; q v; }", "core", true).codes, "");
  Outcome o = run_text("v 1;\nP extends { x v; }\nsfConfig extends { v 2; q extends P }", "core", true);
  EXPECT_EQ(o.codes, "SF-LEVELS");
  EXPECT_NE(o.diagnostics.find("`q.x` is 2"), std::string::npos) << o.diagnostics;
  EXPECT_EQ(run_text("sfConfig extends { a extends sfConfig }", "core", true).codes, "SF-LEVELS");
  EXPECT_EQ(run_text("sfConfig extends { a b; b 1; }", "production", true).codes, "SF-LEVELS");
}

// The cases on which compilers have disagreed, as the guide decides them.
TEST(Levels, ForwardReferencesAndOtherDecisions) {
  struct Case {
    const char *text, *core, *production;
  };
  const Case kCases[] = {
      {"sfConfig extends { a b; b 1; c a; }", "SF-5", "{a:1, b:1, c:1}"},
      {"sfConfig extends { a b; b a; }", "SF-5", "SF-LINK"},
      {"sfConfig extends { c extends { d c; } }", "{c:{d:{}}}", "SF-LINK"},
      {"port 80; sfConfig extends { port port; }", "{port:80}", "SF-LINK"},
      {"sfConfig extends { c extends a a extends { b 1; } }", "SF-4", "{c:{b:1}, a:{b:1}}"},
      {"sfConfig extends { a extends { b extends a } }", "{a:{b:{b:{}}}}", "SF-TYPE"},
      {"sfConfig extends { a:b extends { c 2; } a extends { b 1; } }", "SF-2", "{a:{b:{c:2}}}"},
      {"sfConfig extends { a extends { b extends { c 1; } } a:b:c 3; a 1; }", "{a:1}", "SF-PLACE"},
      {"P extends { x 1; } sfConfig extends { q extends P } P:x 2;", "{q:{x:1}}", "{q:{x:1}}"},
      {"v 1; sfConfig extends { v 2; a extends { v 3; } a:w v; }", "{v:2, a:{v:3, w:2}}", "{v:2, a:{v:3, w:3}}"},
      {"v 1; P extends { x v; } sfConfig extends { v 2; q extends P }", "{v:2, q:{x:1}}", "{v:2, q:{x:2}}"},
      {"sfConfig extends { a extends { x 1; } b a; a:x 2; }", "{a:{x:2}, b:{x:1}}", "{a:{x:2}, b:{x:2}}"},
      {"a extends { z 1; } sfConfig extends { a extends { y 2; } r a:z; }", "{a:{y:2}, r:1}", "SF-LINK"},
      {"A extends { foo bar; } sfConfig extends { bar 2; a2 test:a1; test extends { bar 1; a1 extends A } }",
       "SF-5 SF-5", "{bar:2, a2:{foo:1}, test:{bar:1, a1:{foo:1}}}"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(core(c.text), c.core) << c.text;
    Outcome o = run_text(c.text, "production");
    EXPECT_EQ(o.tree.empty() ? o.codes : o.tree, c.production) << c.text;
  }
  EXPECT_EQ(run_text("sfConfig extends { c THIS; }", "production").codes, "SF-LINK");
}

TEST(Core, Limits) {
  std::string deep = "sfConfig extends {";
  for (int i = 0; i < 300; i++) deep += " n extends {";
  deep += std::string(301, '}');
  Limits limits;
  limits.depth = 200;
  EXPECT_EQ(run_text(deep, "core", false, limits).codes, "LIMIT-DEPTH");
  limits.depth = 1000;
  EXPECT_EQ(run_text(deep, "core", false, limits).codes, "");
  // Small to write, endless to print.
  std::string bomb = "x0 extends { a 1; b 2; }\n";
  for (int i = 1; i < 60; i++)
    bomb +=
        "x" + std::to_string(i) + " extends { l x" + std::to_string(i - 1) + "; r x" + std::to_string(i - 1) + "; }\n";
  EXPECT_EQ(run_text(bomb + "sfConfig extends x59", "core").codes, "LIMIT-NODES");
}

TEST(Core, SyntaxErrorsAreCollected) {
  Outcome o = run_text("a 1 b 2;\nsfConfig extends {\n  x ;\n  y 1;\n  z [1,, 2];\n}", "core");
  EXPECT_EQ(o.codes, "SF-PARSE SF-PARSE SF-PARSE") << o.diagnostics;
  EXPECT_EQ(run_text("sfConfig extends { a \"abc; }", "core").codes.substr(0, 8), "SF-PARSE");
  // A `;` after a component is told as such, and nothing that follows is an error for it.
  o = run_text("a extends {};\nsfConfig extends {\n  l extends a;\n  m 1;;\n}", "core");
  EXPECT_EQ(o.codes, "SF-PARSE SF-PARSE SF-PARSE SF-LEVEL") << o.diagnostics;
  EXPECT_NE(o.diagnostics.find("no `;` follows a component"), std::string::npos) << o.diagnostics;
  EXPECT_NE(o.diagnostics.find("nothing before this `;`"), std::string::npos) << o.diagnostics;
  EXPECT_EQ(run_text("a extends {};\nsfConfig extends {\n  l extends a;\n  m 1;;\n}", "production").codes, "");
  EXPECT_EQ(run_text("sfConfig extends { a 1; /* ", "core").codes.substr(0, 8), "SF-PARSE");
  EXPECT_EQ(run_text("sfConfig extends { a \"\xff\"; }", "core").codes, "SF-PARSE");
}

}  // namespace
}  // namespace tutti::smartfrog
