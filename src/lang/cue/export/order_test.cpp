#include "lang/cue/export/order.h"

#include <gtest/gtest.h>

#include <random>

#include "lang/cue/load/instance.h"

// What is remembered of structs that are alike must be what is found for each by itself.
namespace tutti::cue {
namespace {

std::string text_of(const std::vector<Vertex*>& arcs) {
  std::string out;
  for (const Vertex* a : arcs) out += a->label.text() + " ";
  return out;
}

void compare(const Sources& sources, ArcOrder& known, Vertex* v) {
  v = v->deref_value();
  std::vector<Vertex*> found;
  known.of(v, found);
  EXPECT_EQ(text_of(found), text_of(ordered_arcs(sources, v)));
  for (Vertex* a : v->arcs) compare(sources, known, a);
}

TEST(CueArcOrder, RememberedAsFound) {
  std::mt19937 random(7);
  auto pick = [&](unsigned n) { return random() % n; };
  auto literal = [&] {
    std::string out = "{";
    for (unsigned i = 0, n = pick(4); i < n; ++i) out += std::string(1, "abcdez"[pick(6)]) + ": int, ";
    return out + "}";
  };
  auto value = [&] {
    switch (pick(8)) {
      case 0: return "#A & " + literal();
      case 1: return literal() + " & #A";
      case 2: return literal() + " & " + literal();
      case 3: return "#A & #B & " + literal();
      case 4: return "other & " + literal();
      case 5: return "{#A, " + literal().substr(1);
      case 6: return "{for k in [\"x\", \"b\"] {(k): int}, " + literal().substr(1);
      default: return literal();
    }
  };
  for (int round = 0; round < 60; ++round) {
    Session session;
    std::vector<const Source*> files;
    for (int file = 0; file < 3; ++file) {
      std::string text = "package p\n";
      if (file == 1)
        text +=
            "#A: {z: int, c: int, ...}\n#B: {b: int, z: int, ...}\nother: {e: int, a: int}\np: [string]: {q: int}\n";
      for (int i = 0; i < 12; ++i)
        text += (pick(3) == 0 ? "p: " : "") + std::string("f") + std::to_string(pick(8)) + ": " + value() + "\n";
      files.push_back(*session.sources->add("f" + std::to_string(file) + ".cue", text));
    }
    Instance instance(session);
    ASSERT_TRUE(instance.load_sources(files));
    ArcOrder known(*session.sources);
    compare(*session.sources, known, instance.evaluate());
  }
}

}  // namespace
}  // namespace tutti::cue
