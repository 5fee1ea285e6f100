#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "lang/cue/load/instance.h"

// Leaves that are settled at once must be what the evaluation in full makes of them.
namespace tutti::cue {
namespace {

std::string evaluate(const std::string& text, bool settles_leaves) {
  Session session;
  auto source = session.sources->add("test.cue", text);
  Instance instance(session);
  instance.context().settles_leaves = settles_leaves;
  const Source* one[] = {*source};
  if (!instance.load_sources(one)) return "not compiled";
  Vertex* root = instance.evaluate();
  std::string out = compact(root);
  if (Bottom* b = root->bottom())
    for (const FlatError& e : flatten(b)) out += "\n" + e.path + ": " + e.message;
  return out;
}

TEST(CueLeaf, SettledAsEvaluated) {
  const std::string head = R"(
import "strings"
#Id: =~"^[a-z]+$" & strings.MaxRunes(5)
#Port: int & >0 & <=65535
#Level: *"info" | "debug" | #Id
five: 5
_hidden: "abc"
in: {n: 7, t: "abc", one: *1 | int, type: int, deeper: {n: five + 2, m: in.n, #def: 5}}
wrong: {n: 1 & 2, m: 1}
)";
  const char* parts[] = {"int",
                         "number",
                         "string",
                         "bool",
                         "null",
                         "_",
                         "5",
                         "5.0",
                         "-1",
                         "\"abc\"",
                         "true",
                         "'abc'",
                         ">0",
                         "<=10",
                         ">=5",
                         "<=5",
                         "!=5",
                         "!=null",
                         "=~\"^a\"",
                         "!~\"b$\"",
                         "#Id",
                         "#Port",
                         "#Level",
                         "five",
                         "_hidden",
                         "strings.MinRunes(2)",
                         "strings.MaxRunes(2)",
                         "*1 | int",
                         "*\"x\" | #Id",
                         "1 | 2 | 5",
                         "*five | string",
                         "int & >0 & <50",
                         "*1 | int & >0 & <=50",
                         "\"abc\" | \"x\" | 5",
                         "uint8",
                         "float",
                         "string | null",
                         "*5 | 5 | int",
                         "in.n",
                         "in.t",
                         "in.one",
                         "in.type",
                         "in.deeper.n",
                         "in.deeper.m",
                         "in.deeper.#def",
                         "wrong.n",
                         "wrong.m",
                         "in.none",
                         "\"a\\(in.t)-\\(five)\"",
                         "'\\(in.n)'",
                         "\"\\(in.type)\"",
                         "in.n - 2",
                         "five*in.one",
                         "in.t + \"c\"",
                         "in.n + in.t",
                         "\"a\" + \"bc\""};
  std::mt19937 random(7);
  auto any = [&] { return std::string(parts[random() % std::size(parts)]); };
  for (int i = 0; i < 3600; ++i) {
    std::string text = head;
    switch (i % 6) {
      case 0: text += "d: {x: " + any() + ", x: " + any() + "}"; break;
      case 1: text += "#D: {x: " + any() + ", y?: " + any() + "}\nd: #D & {x: " + any() + "}"; break;
      case 2:
        text += "d: [N=string]: {name: N, x: " + any() + "}\nd: abc: {name: " + any() + ", x: " + any() + "}";
        break;
      case 3: text += "#D: {x: " + any() + "}\nd: [...#D]\nd: [{x: " + any() + "}, {x: " + any() + ", z: 1}]"; break;
      case 4: text += "d: {x: " + any() + ", y: (" + any() + ") & " + any() + ", z: x, w: y}"; break;
      case 5:
        text += "#D: {x: " + any() + ", y: _}\nfor k, v in in {d: (k): #D & {x: " + any() + ", y: v}, e: (k): k}\n";
        text += "for v in [in.deeper, {n: " + any() + "}] {f: \"\\(v.n)\": {v.n, #D}, g: v.n}";
        break;
    }
    EXPECT_EQ(evaluate(text, true), evaluate(text, false)) << text;
  }
}

// Fields of disjuncts that are just a value, beside others that are more.
TEST(CueLeaf, DisjunctsAsEvaluated) {
  std::mt19937 random(7);
  auto pick = [&](unsigned n) { return random() % n; };
  auto any = [&](std::initializer_list<const char*> of) { return std::string(of.begin()[pick(of.size())]); };
  auto value = [&] { return any({"1", "1", "2", "\"x\"", "int", ">0", "_", "{b: 1}", "[1]", "*1 | 2", "a", "#E.a"}); };
  auto field = [&] { return any({"a", "b", "c"}) + any({": ", ": ", ": ", "?: ", "!: "}) + value(); };
  auto literal = [&] {
    std::string out = "{" + field();
    for (unsigned n = pick(3); n > 0; --n) out += ", " + field();
    return out + any({"", "", "", ", #E", ", [string]: int", ", if b == 1 {c: 2}", ", ..."}) + "}";
  };
  auto arm = [&] { return any({"", "", "*"}) + (pick(6) ? literal() : any({"#E", "#F", "1", "close({a: 1, b: 1})"})); };
  for (int i = 0; i < 1500; ++i) {
    std::string text = "#E: {a: 1, b?: int}\n#F: {a: 1 | 2} | {b: 1}\n";
    for (unsigned n = 1 + pick(4); n > 0; --n) {
      text += any({"x: ", "x: ", "x: ", "#F: ", "y: x & "}) + arm();
      for (unsigned m = pick(3); m > 0; --m) text += " | " + arm();
      text += "\n";
    }
    EXPECT_EQ(evaluate(text, true), evaluate(text, false)) << text;
  }
}

// There may be thousands of disjuncts, so what each costs counts.
TEST(CueLeaf, DisjunctsAreSmall) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += fmt::format("x: {{a{0}: 1, b{0}: 1}} | {{a{0}: 2, b{0}: 2}}\n", i);
  std::size_t bytes[2];
  for (bool settles : {false, true}) {
    Session session;
    const Source* one[] = {*session.sources->add("test.cue", text)};
    Instance instance(session);
    instance.context().settles_leaves = settles;
    ASSERT_TRUE(instance.load_sources(one));
    instance.evaluate();
    bytes[settles] = instance.context().arena.bytes();
  }
  EXPECT_LT(bytes[1], bytes[0] * 2 / 3);
}

TEST(CueLeaf, ListsThatWereCopiedKeepTheirItems) {
  Room room;
  Grow<Ref<Vertex>> list;
  Ref<Vertex> items[8];
  for (auto& v : items) v = room.make<Vertex>();
  for (auto& v : items) list.push(room, v);
  Grow<Ref<Vertex>> copy = list;
  list.push(room, items[0]);  // moves, or writes behind the end of the copy
  copy.push(room, items[1]);
  Grow<Ref<Vertex>> others[4];
  for (auto& o : others)
    for (auto& v : items) o.push(room, v);
  ASSERT_EQ(list.size(), 9u);
  ASSERT_EQ(copy.size(), 9u);
  for (u32 i = 0; i < 8; ++i) {
    EXPECT_EQ(list[i].get(), items[i].get());
    EXPECT_EQ(copy[i].get(), items[i].get());
  }
  EXPECT_EQ(list[8].get(), items[0].get());
  EXPECT_EQ(copy[8].get(), items[1].get());
}

// A place that a list has left is given to the next that needs as much.
TEST(CueLeaf, PlacesAreUsedAgain) {
  Room room;
  void* first = room.take(64);
  room.give(first, 64);
  EXPECT_NE(room.take(32), first);
  EXPECT_EQ(room.take(64), first);
  EXPECT_NE(room.take(64), first);
}

}  // namespace
}  // namespace tutti::cue
