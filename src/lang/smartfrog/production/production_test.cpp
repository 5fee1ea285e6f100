#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lang/smartfrog/syntax/java_number.h"
#include "lang/smartfrog/testing.h"

namespace tutti::smartfrog {
namespace {

std::string production(const std::string& text) {
  Outcome o = run_text(text, "production");
  return o.tree.empty() ? o.codes : o.tree;
}

TEST(Production, LinksAreResolvedWhereTheyWereCopiedTo) {
  EXPECT_EQ(production("v 1; P extends { x v; } sfConfig extends { v 2; q extends P; r P; }"),
            "{v:2, q:{x:2}, r:{x:1}}");
  EXPECT_EQ(production("sfConfig extends { a b; b c; c 3; }"), "{a:3, b:3, c:3}");
}

// Figures 7 to 10 of the paper.
TEST(Production, ForwardLinksAndPlacements) {
  EXPECT_EQ(production("sfConfig extends { a b; b 1; c a; }"), "{a:1, b:1, c:1}");
  EXPECT_EQ(production("sfConfig extends { comp1 extends { comp2 comp1; } }"), "SF-LINK");
  EXPECT_EQ(production("sfConfig extends { a:b extends { c 2; } a extends { b 1; } }"), "{a:{b:{c:2}}}");
  EXPECT_EQ(production("sfConfig extends { a extends { b extends { c 1; } } a:b:c 3; a 1; }"), "SF-PLACE");
  EXPECT_EQ(production("sfConfig extends { a:b:c 1; a:b extends {} a extends {} }"), "{a:{b:{c:1}}}");
}

TEST(Production, NothingIsPlacedOverWhatIsFinal) {
  const std::string prototype = "P extends { [sfFinal] a extends { b 1; } } ";
  EXPECT_EQ(production(prototype + "sfConfig extends { q extends P q:a 3; }"), "SF-PLACE");
  // Also when another placement succeeds, into it this time, and all are tried again.
  EXPECT_EQ(production(prototype + "sfConfig extends { q extends P { a:b 2; } q:a 3; }"), "SF-PLACE");
}

TEST(Production, CyclesAreErrors) {
  EXPECT_EQ(production("sfConfig extends { a b; b a; }"), "SF-LINK");
  Outcome loop = run_text("sfConfig extends { x a; a b:c; b extends { c d; } d (a + 1); }", "production");
  EXPECT_EQ(loop.codes, "SF-LINK");
  EXPECT_NE(loop.diagnostics.find("the value of `a` depends on itself: a -> c -> d -> a"), std::string::npos)
      << loop.diagnostics;
  EXPECT_EQ(production("sfConfig extends { port port; }"), "SF-LINK");
  EXPECT_EQ(production("sfConfig extends { a extends b { x 1; } b extends a { y 2; } }").substr(0, 7), "SF-TYPE");
  EXPECT_EQ(production("sfConfig extends { a extends sfConfig }"), "SF-TYPE");
  EXPECT_EQ(production("sfConfig extends { a (b + 1); b (a + 1); }").substr(0, 7), "SF-LINK");
}

TEST(Production, JavaArithmetic) {
  EXPECT_EQ(production("sfConfig extends { a (2147483647 + 1); b (1L + 1); c (7 / 2); d (-7 / 2); e (-7 % 3); f (1 / "
                       "2.0D); g (1.5F + 1); }"),
            "{a:-2147483648, b:2:LONG, c:3, d:-3, e:-1, f:0.5:DOUBLE, g:2.5:FLOAT}");
  EXPECT_EQ(production("sfConfig extends { a (1 == 1L); b (1 < 2L); c ([1, \"x\"] == [1, \"x\"]); }"),
            "{a:false, b:true, c:true}");
  EXPECT_EQ(production("sfConfig extends { a (1 / 0); }"), "SF-LINK");
  EXPECT_EQ(java_text(1e7), "1.0E7");
  EXPECT_EQ(java_text(0.001), "0.001");
  EXPECT_EQ(java_text(1234567.5), "1234567.5");
  EXPECT_EQ(java_text(34.76f), "34.76");
  EXPECT_EQ(java_text(-0.0), "-0.0");
}

TEST(Production, LazyThingsStay) {
  EXPECT_EQ(production("sfConfig extends { x 1; l LAZY x; m l; n LAZY HOST localhost:foo; d DATA x; }"),
            "{x:1, l:~x, m:~l, n:~HOST localhost:foo, d:@x}");
  EXPECT_EQ(production("sfConfig extends { l LAZY x; o (l + 1); }"),
            "{l:~x, o:~APPLY {sfFunctionClass \"org.smartfrog.sfcore.languages.sf.functions.Sum\"; unique0 LAZY l; "
            "unique1 1; }}");
}

TEST(Production, MergeAndOrder) {
  EXPECT_EQ(production("P extends { q extends { a 1; b 2; } } sfConfig extends P, merge({ q extends { b 3; c 4; } })"),
            "{q:{a:1, b:3, c:4}}");
  EXPECT_EQ(production("P extends { order b < a; a 1; b 2; } sfConfig extends { c extends P; }"), "{c:{b:2, a:1}}");
}

TEST(Production, SchemasWithoutALibrary) {
  std::string library =
      "F extends { phase.function \"org.smartfrog.sfcore.languages.sf.ConstructFunction\"; "
      "sfFunctionClass \"org.smartfrog.sfcore.languages.sf.functions.CheckSchemaElement\"; optional false; binding "
      "\"anyBinding\"; class \"anyClass\"; }\n"
      "Int extends F { class \"java.lang.Integer\"; }\n"
      "S extends { phase.function \"org.smartfrog.sfcore.languages.sf.ConstructSchema\"; sfAssertionPhase \"static\"; "
      "port extends Int; }\n";
  EXPECT_EQ(production(library + "sfConfig extends { schema extends S; port 80; }"), "{port:80}");
  EXPECT_EQ(production(library + "sfConfig extends { schema extends S; port \"80\"; }"), "SF-LINK");
  EXPECT_EQ(production(library + "sfConfig extends { schema extends S; }"), "SF-LINK");
}

TEST(Production, AssertionsWithoutALibrary) {
  std::string library =
      "Assertions extends { phase.function \"org.smartfrog.sfcore.languages.sf.ConstructAssertions\"; "
      "sfAssertionPhase \"static\"; }\n";
  EXPECT_EQ(production(library + "sfConfig extends { port 80; chk extends Assertions { ok (port < 100); } }"),
            "{port:80}");
  EXPECT_EQ(production(library + "sfConfig extends { port 80; chk extends Assertions { bad (port > 100); } }"),
            "SF-LINK");
}

// An action that no phase takes is not passed over without a word: what it should have checked is not checked.
TEST(Production, PhasesThatDoNothingAreTold) {
  auto run = [](const std::string& text) { return run_text(text, "production"); };
  std::string checked =
      "A extends { phase.predicate \"some.Class\"; } sfConfig extends { a extends A { b 1; } c extends A }";
  EXPECT_EQ(run(checked).codes, "SF-PHASE");
  EXPECT_EQ(
      run("phaseList [| \"type\", \"place\", \"function\", \"sfConfig\", \"link\", \"predicate\" |]; " + checked).codes,
      "SF-PREDICATE");
  Outcome misspelt = run("phaseList [| \"type\", \"plase\", \"sfConfig\" |]; sfConfig extends { a 1; }");
  EXPECT_EQ(misspelt.codes, "SF-PHASE");
  EXPECT_NE(misspelt.diagnostics.find("`place`"), std::string::npos) << misspelt.diagnostics;
  EXPECT_EQ(run("phaseList [| \"type\", \"place\", \"sfConfig\" |]; sfConfig extends { a 1; }").codes, "");
}

TEST(Production, WhatFollowsFromAnErrorIsNotReported) {
  EXPECT_EQ(production("sfConfig extends { b a:x; c (a + 1); a nope; d [b, c]; e d; }"), "SF-LINK");
  EXPECT_EQ(production("sfConfig extends { a OPTIONAL(1) b; b nope; }"), "SF-LINK");
  EXPECT_EQ(production("x nope; sfConfig extends { a x; b x; }"), "SF-LINK");
}

TEST(Production, EveryErrorOfAPhaseIsReported) {
  EXPECT_EQ(production("sfConfig extends { a nope; b [nope2, 1]; c TBD; }"), "SF-LINK SF-LINK SF-LINK");
  EXPECT_EQ(production("sfConfig extends { a extends N1; b extends N2; }"), "SF-TYPE SF-TYPE");
}

std::string written(const std::string& text, std::string_view level) {
  Outcome o = run_text(text, level, false, {}, "sf");
  return o.text.empty() ? o.codes : o.text;
}

TEST(Production, WrittenAsSmartFrogAgain) {
  EXPECT_EQ(written("P extends { port 80; } sfConfig extends { a extends P; s a:port; t extends { u s; v PARENT:a; } l "
                    "LAZY t:u; }",
                    "production"),
            "sfConfig extends {\n  a extends {\n    port 80;\n  }\n  s a:port;\n  t extends {\n    u PARENT:s;\n  "
            "  v PARENT:a;\n  }\n"
            "  l LAZY t:u;\n}\n");
  EXPECT_EQ(written("g 5; sfConfig extends { a g; b ROOT:sfConfig:a; [x] c [1, 2L, (1.5D + 1), \"q\\n\"]; \"odd name\" "
                    "NULL; d extends DATA {} }",
                    "production"),
            "sfConfig extends {\n  a 5;\n  b ROOT:sfConfig:a;\n  [x] c [1, 2L, 2.5D, \"q\\n\"];\n  \"odd name\" "
            "NULL;\n  d extends DATA {}\n}\n");
}

// What is written means the same tree, links resolved, at both levels.
TEST(Production, RoundTrip) {
  for (const char* text :
       {"P extends { n extends { v x; } x 1; } sfConfig extends { a extends P { x 2; } b extends P { n:v 9; } c a:n; d "
        "[c:v, 3]; }",
        "sfConfig extends { x 1; y extends { z x; w extends { q z; } } e y:w:q; }",
        "sfConfig extends { s \"tab\\t \\\\ \\\" \\001\"; f 1.5F; b #HEX#00FF#; t true; n NULL; v [[], [1]]; }"}) {
    std::string again = written(text, "production");
    EXPECT_EQ(production(again), production(text)) << again;
    EXPECT_EQ(written(again, "production"), again);
  }
}

TEST(Production, Limits) {
  Limits limits;
  limits.depth = 100;
  std::string chain = "sfConfig extends {";
  for (int i = 0; i < 300; i++) chain += " a" + std::to_string(i) + " a" + std::to_string(i + 1) + ";";
  EXPECT_EQ(run_text(chain + " a300 1; }", "production", false, limits).codes, "LIMIT-DEPTH");
  auto deep = [](char open, char close, std::string_view level) {
    return run_text(fmt::format("sfConfig extends {{ a {}1{}; }}", std::string(5000, open), std::string(5000, close)),
                    level)
        .codes;
  };
  EXPECT_EQ(deep('(', ')', "production"), "LIMIT-DEPTH");
  EXPECT_EQ(deep('[', ']', "production"), "LIMIT-DEPTH");
  EXPECT_EQ(deep('[', ']', "core"), "LIMIT-DEPTH");
}

// Instances share what they inherit without changing it, until something is placed in it or looked for around it.
TEST(Production, WhatIsSharedIsOwnedWhenItChanges) {
  EXPECT_EQ(
      production("P extends { n extends { v 1; w extends { z 1; } } } sfConfig extends { a extends P; b extends P; "
                 "l a:n; l:v 5; a:n:w:z 7; c b:n:PARENT:n:v; d extends P { n:w:z 9; } }"),
      "{a:{n:{v:5, w:{z:7}}}, b:{n:{v:1, w:{z:1}}}, l:{v:5, w:{z:7}}, c:1, d:{n:{v:1, w:{z:9}}}}");
}

// What doubles with every line takes steps as it grows, so that --limit steps and --limit time end it.
TEST(Production, CopiesAndTextsTakeSteps) {
  Limits limits;
  limits.steps = 100'000;
  std::string copies = "p0 extends { x 1; y x; }", texts = "sfConfig extends { x0 \"ab\";",
              vectors = "sfConfig extends { x0 [1];";
  for (int i = 1; i < 30; i++) {
    copies += fmt::format(" p{} extends {{ a extends p{} b extends p{} }}", i, i - 1, i - 1);
    texts += fmt::format(" x{} (x{} ++ x{});", i, i - 1, i - 1);
    vectors += fmt::format(" x{} (x{} <> x{});", i, i - 1, i - 1);
  }
  for (const std::string& text : {copies + " sfConfig extends p29", texts + " }", vectors + " }"})
    EXPECT_EQ(run_text(text, "production", false, limits).codes, "LIMIT-STEPS") << text;
}

}  // namespace
}  // namespace tutti::smartfrog
