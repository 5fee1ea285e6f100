#include <gtest/gtest.h>

#include "lang/cue/load/instance.h"

// What the evaluator makes of small files, shown on one line.
namespace tutti::cue {
namespace {

std::string evaluate(std::string text) {
  Session session;
  auto source = session.sources->add("test.cue", std::move(text));
  Instance instance(session);
  const Source* one[] = {*source};
  if (!instance.load_sources(one)) return "error: " + (instance.errors().empty() ? "" : instance.errors()[0].message);
  Vertex* root = instance.evaluate();
  if (Bottom* b = root->bottom()) {
    auto list = flatten(b);
    return "error: " + (list.empty() ? "" : (list[0].path.empty() ? "" : list[0].path + ": ") + list[0].message);
  }
  return compact(root);
}

TEST(CueEval, Unification) {
  EXPECT_EQ(evaluate("a: {x: int, y: x + 1} & {x: 5}"), "{a:{x:5,y:6}}");
  EXPECT_EQ(evaluate("a: 1\na: 2"), "error: a: conflicting values 2 and 1");
  EXPECT_EQ(evaluate("a: int & >=0 & <10 & 5"), "{a:5}");
  EXPECT_EQ(evaluate("a: >5 & 3"), "error: a: invalid value 3 (out of bound >5)");
}

TEST(CueEval, Defaults) {
  EXPECT_EQ(evaluate("a: *1 | int\nb: a + 1"), "{a:*1 | int,b:2}");
  EXPECT_EQ(evaluate("a: (*1 | 2) & 2"), "{a:2}");
}

TEST(CueEval, Closedness) { EXPECT_EQ(evaluate("#D: {a: int}\nx: #D & {b: 1}"), "error: x.b: field not allowed"); }

// A struct that looks for a field in itself lacks it wherever the line stands.
TEST(CueEval, FieldsLookedForInThemselves) {
  const std::string wrong = "error: #r: undefined field: a";
  EXPECT_EQ(evaluate("#r: {c: int, p}\n#r: #r.a\np: {c: _}"), wrong);
  EXPECT_EQ(evaluate("#r: #r.a\n#r: {c: int, p}\np: {c: _}"), wrong);
  EXPECT_EQ(evaluate("p: {c: _}\n#r: {c: int, p}\n#r: #r.a"), wrong);
}

// "The result of { A } is A": an ellipsis within what is embedded does not open what stands beside it there.
TEST(CueEval, EllipsesWithinEmbeddings) {
  const std::string a = "#A: {a?: int}\n";
  EXPECT_EQ(evaluate(a + "y: #A & {...} & {b: 1}"), "error: y.b: field not allowed");
  EXPECT_EQ(evaluate(a + "y: {#A & {...}} & {b: 1}"), "error: y.b: field not allowed");
  EXPECT_EQ(evaluate(a + "y: {{x: #A & {...}}} & {x: b: 1}"), "error: y.x.b: field not allowed");
  EXPECT_EQ(evaluate(a + "y: {#A, ...} & {b: 1}"), "{#A:{a?:int},y:{b:1,a?:int}}");
  // two that are open are open together
  const std::string open = "#B: {b?: int, ...}\n#C: {c?: int, ...}\n";
  EXPECT_EQ(evaluate(open + "y: {{x: #B & #C}} & {x: d: 1}"), "{#B:{b?:int},#C:{c?:int},y:{x:{d:1,b?:int,c?:int}}}");
}

TEST(CueEval, Cycles) {
  EXPECT_EQ(evaluate("s: {lo: hi - w, hi: lo + w, w: 7} & {lo: 3}"), "{s:{lo:3,hi:10,w:7}}");
  EXPECT_EQ(evaluate("a: b: a"), "error: a.b: structural cycle");
}

// The operand of a projection that leads back to itself is the same operand.
TEST(CueEval, ProjectionsThatFeedThemselves) {
  EXPECT_EQ(evaluate("c: {a: 1, b: {b: c.b, c, b: c.b}.b}"), "{c:{a:1,b:_}}");
  EXPECT_EQ(evaluate("b: {c: {a: int, a: {a: b.c.a, a: 1}.a, a: 1}, a: {c: b, b}.a}"), "{b:{c:{a:1},a:_}}");
}

// Numbers of closedness that contain each other in many ways are looked at once each.
TEST(CueEval, ClosednessOfManyWays) {
  std::string text = "#D0: {f0: int}\n";
  for (int i = 1; i < 40; ++i) {
    std::string k = std::to_string(i), before = std::to_string(i - 1);
    text += "#D" + k + ": {#D" + before + ", #D" + before + " & {f0: int}, f" + k + ": int}\n";
  }
  EXPECT_EQ(evaluate(text + "v: #D39 & {g: 1}"), "error: v.g: field not allowed");
}

// A reference that unfolds itself further and further in is a structural cycle, not work without end. The steps allowed
// are few: more would mean that it was found too late.
TEST(CueEval, StructuresThatUnfoldThemselves) {
  Limits limits;
  limits.steps = 5'000'000;
  for (const char* text : {"b: {e: b, e: {e: {e: {e: b}, b: b.e}, b: e}}",
                           "b: {b: a, a: {a: {a: {a: {a: {b: b.a.a, a: {b: {}, a: a.b.b.b.b.a}, b: {a: a.a.a, a: b}},"
                           " a: b, a: a & int, a}, b: a}}, b: a}, a: a.a}, a: a.b, a: a"}) {
    Session session(limits);
    auto source = session.sources->add("x.cue", text);
    Instance instance(session);
    const Source* one[] = {*source};
    ASSERT_TRUE(instance.load_sources(one)) << text;
    Bottom* b = instance.evaluate()->bottom();
    ASSERT_TRUE(b) << text;
    EXPECT_LT(flatten(b).size(), 100u) << text;
  }
}

// Values whose evaluation leads back into itself in many ways: whatever comes out, it does not end in a crash.
TEST(CueEval, TangledValuesEnd) {
  Limits limits;
  limits.steps = 3'000'000;
  for (const char* text : {
           "a: {a: {b: {[string]: {b: a & b.a.a, b: b, b.b}, a: {if b != _|_ {b: {}}, b: a.b & close(b.a.a.b.b),"
           " a: {a: *[b.a] | a, a: a.a, a}}, b: b}, \"\\(a.a)\": {}, b}, a}, a.b",
           "b: {a: a, a: a + 1}, a: {b: b.a, b: {a: b & {a?: a, a: b, b: a, a: b, ...}, a.a}, a: b, a.a.a.b}, a",
           "a: {a: {a: *a.a | {a: a, a: {a: {a: a}, a: a.a.a, a: a.a}, a}}, a}, a: a, a",
           "c: {e: [{b: {c: {c: c.c.c & c, c: {for k, v in c {(k): {[string]: {b: e, \"\\(e.b)\": c, e: a}, c: c.e,"
           " a: *{d?: v.e + 1, d: k & a.d, \"\\(e)\": c, b: \"x\\(v)\", e: a.e} | v, ...}}, e: b,"
           " for k, v in e {(k): c & c}, for k, v in a {e: c}, a: c.d & c}, for k, v in c {b: e}, a: c},"
           " [string]: d.a, a: {}, d: \"s\", c}}]}, [string]: e & e.a.d, e: *e | e",
       }) {
    Session session(limits);
    auto source = session.sources->add("x.cue", text);
    Instance instance(session);
    const Source* one[] = {*source};
    if (!instance.load_sources(one)) continue;
    try {
      EXPECT_TRUE(instance.evaluate()) << text;
    } catch (const LimitError& e) {
      EXPECT_TRUE(e.code() == "LIMIT-STEPS" || e.code() == "LIMIT-DEPTH") << e.code() << "\n" << text;
    }
  }
}

TEST(CueEval, Comprehensions) {
  EXPECT_EQ(evaluate("l: [for x in [1, 2, 3] if x > 1 {x * 2}]"), "{l:[4,6]}");
  EXPECT_EQ(evaluate("a?: int\nif a == _|_ {b: 1}"), "{a?:int,b:1}");
}

// A literal is a struct even when its comprehensions say nothing.
TEST(CueEval, StructsOfComprehensionsOnly) {
  EXPECT_EQ(evaluate("b: {if false {d: 1}}\nb: >=1"),
            "error: b: conflicting values {if false {d:1}} and >=1 (mismatched types struct and number)");
  EXPECT_EQ(evaluate("b: {for x in [] {d: 1}}\nb: <5").substr(0, 27), "error: b: conflicting value");
}

// A check of a part of the value is another one; the same check of the same value has no end.
TEST(CueEval, SortedStructs) {
  const std::string list = "import \"list\"\nlet l = [{a: 3}, {a: 1}, {a: 2, b: 1}]\n";
  EXPECT_EQ(evaluate(list + "s: list.Sort(l, {x: {}, y: {}, less: x.a < y.a})"), "{s:[{a:1},{a:2,b:1},{a:3}]}");
  EXPECT_EQ(evaluate(list + "s: list.Sort(l, {x: {}, y: {}, less: x.a > y.a})"), "{s:[{a:3},{a:2,b:1},{a:1}]}");
  EXPECT_EQ(evaluate(list + "s: list.Sort(l, {x: {a: int}, y: {}, less: x.a < y.a})"), "{s:[{a:1},{a:2,b:1},{a:3}]}");
  // what the comparer does not admit is an error, also where the comparison could do without
  EXPECT_EQ(evaluate(list + "#c: {x: {}, y: {}, less: x.a < y.a}\ns: list.Sort(l, #c)").substr(0, 6), "error:");
}

TEST(CueEval, AndOfMany) {
  const std::string many = "import \"list\"\nx: and([for i in list.Range(0, 2000, 1) {>i}])\n";
  EXPECT_EQ(evaluate(many), "{x:>1999}");
  EXPECT_EQ(evaluate(many + "x: 2000"), "{x:2000}");
  EXPECT_EQ(evaluate(many + "x: 7"), "error: x: invalid value 7 (out of bound >1999)");
}

TEST(CueEval, RecursiveChecks) {
  std::string schema = "#E: matchN(1, [int, {u!: #E}])\n";
  EXPECT_EQ(evaluate(schema + "x: #E & {u: u: u: 1}\ny: x.u.u.u").substr(0, 6), "{#E:ma");
  EXPECT_EQ(evaluate(schema + "x: #E & {u: u: u: \"a\"}").substr(0, 28), "error: x: conflicting values");
  EXPECT_EQ(evaluate("_x: matchN(2, [_x, _x])\ny: _x & 5").substr(0, 24), "error: y: invalid value ");
  EXPECT_EQ(evaluate("#I: matchIf({u!: _}, {u!: #I}, {v!: int})\nx: #I & {u: u: v: 1}\ny: x.u.u.v").substr(0, 6),
            "{#I:ma");
}

TEST(CueEval, TemplatesWaitForValues) {
  EXPECT_EQ(evaluate("import \"text/template\"\n"
                     "a: {s: string, out: template.Execute(\"<{{.s}}>\", {\"s\": s})}\nb: a & {s: \"x\"}\nc: b.out"),
            "{a:{s:string,out:_|_(a.out: error in call to text/template.Execute: cannot convert non-concrete value "
            "string)},b:{s:\"x\",out:\"<x>\"},c:\"<x>\"}");
}

TEST(CueEval, LimitsHold) {
  Limits limits;
  limits.steps = 200'000;
  Session session(limits);
  std::string numbers;
  for (int i = 0; i < 40; ++i) numbers += std::to_string(i) + ",";
  auto source =
      session.sources->add("bomb.cue", "r: [" + numbers + "]\nl: [for a in r for b in r for c in r for d in r {a}]\n");
  Instance instance(session);
  const Source* one[] = {*source};
  ASSERT_TRUE(instance.load_sources(one));
  EXPECT_THROW(instance.evaluate(), LimitError);
}

}  // namespace
}  // namespace tutti::cue
