#include "lang/cue/reference/kcue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "lang/cue/load/instance.h"
#include "lang/cue/reference/random.h"

// The cases of the slides through the reference interpreter and through the evaluator: both must come to the same
// value.
namespace tutti::cue {
namespace {

using namespace kcue;

std::string show_value(Context& ctx, Vertex* v, int depth = 0) {
  v = v->deref_value();
  if (depth > 40) return "...";
  if (Bottom* b = v->bottom(); b && !(b->child_error && b->node == v)) return b->incomplete() ? "?" : "!";
  if (v->base && v->base->type != NodeType::kStructMarker && v->base->type != NodeType::kBottom) {
    std::string s = compact(v->base);
    return s;
  }
  std::map<std::string, std::string> fields;
  for (Vertex* a : v->arcs)
    if (a->label.is_regular() && a->arc_type == ArcType::kMember)
      fields[a->label.plain()] = show_value(ctx, a, depth + 1);
  if (fields.empty()) return "_";
  std::string out = "{";
  for (auto& [k, x] : fields) out += (out.size() > 1 ? "," : "") + k + ":" + x;
  return out + "}";
}

bool has_structural_cycle(Vertex* v, int depth = 0) {
  v = v->deref_value();
  if (depth > 40) return true;
  if (Bottom* b = v->bottom(); b && b->code == Code::kStructuralCycle) return true;
  for (Vertex* a : v->arcs)
    if (has_structural_cycle(a, depth + 1)) return true;
  return false;
}

struct Evaluated {
  std::string text;
  bool structural_cycle = false;
};

// A structure without end that the evaluator does not recognise ends at the limit: it is as endless, said less well.
Evaluated evaluate_core(const std::string& text) try {
  Limits limits;
  limits.depth = 200;
  Session session(limits);
  auto source = session.sources->add("core.cue", text);
  Instance instance(session);
  const Source* one[] = {*source};
  if (!instance.load_sources(one)) return {"error: " + (instance.errors().empty() ? "" : instance.errors()[0].message)};
  Vertex* root = instance.evaluate();
  return {show_value(instance.context(), root), has_structural_cycle(root)};
} catch (const LimitError& e) {
  return {e.what(), true};
}

std::string evaluate(const std::string& text) { return evaluate_core(text).text; }

std::string reference_value(const TermPtr& program) {
  Outcome out = run(program);
  return out.end == End::kFixPoint ? show(out.value) : out.end == End::kEndless ? "endless" : "unknown";
}

TEST(KCue, ReferencesAccumulate) {
  // x: x: a: 1, x
  TermPtr p = all({field("x", field("x", field("a", constant("1")))), kcue::reference("x", 0)});
  EXPECT_EQ(reference_value(p), "{a:1,x:{a:1,x:{a:1}}}");
  EXPECT_EQ(evaluate("x: x: a: 1\nx\n"), "{a:1,x:{a:1,x:{a:1}}}");
}

TEST(KCue, ProjectionInACycle) {
  // a: {b: {c: a, d: c.e}.d, e: 1}
  TermPtr inner = all({field("c", kcue::reference("a", 4)), field("d", project(kcue::reference("c", 2), "e"))});
  TermPtr p = all({field("a", all({field("b", project(inner, "d")), field("e", constant("1"))}))});
  EXPECT_EQ(reference_value(p), "{a:{b:1,e:1}}");
  EXPECT_EQ(evaluate("a: {b: {c: a, d: c.e}.d, e: 1}\n"), "{a:{b:1,e:1}}");
  EXPECT_EQ(evaluate("a: {b: {c: a & _, d: c.e}.d, e: 1}\n"), "{a:{b:1,e:1}}");
}

TEST(KCue, ExampleOfTheSlides) {
  // x: y: 1, p: {x, z: x.y}
  TermPtr p = all({field("x", field("y", constant("1"))),
                   field("p", all({kcue::reference("x", 1), field("z", project(kcue::reference("x", 3), "y"))}))});
  EXPECT_EQ(reference_value(p), "{p:{y:1,z:1},x:{y:1}}");
  EXPECT_EQ(evaluate("x: y: 1\np: {x, z: x.y}\n"), "{p:{y:1,z:1},x:{y:1}}");
}

TEST(KCue, ReferenceCyclesSayNothing) {
  TermPtr p = all({field("a", kcue::reference("b", 1)), field("b", kcue::reference("a", 1))});
  EXPECT_EQ(reference_value(p), "{a:_,b:_}");
  EXPECT_EQ(evaluate("a: b\nb: a\n"), "{a:_,b:_}");
}

// A value as shown, taken apart.
struct Shown {
  std::string leaf;
  std::map<std::string, Shown> fields;
};

Shown parse(std::string_view& t) {
  Shown out;
  if (!t.starts_with('{')) {
    std::size_t n = std::min(t.find_first_of(",}"), t.size());
    out.leaf = t.substr(0, n);
    t.remove_prefix(n);
    return out;
  }
  while (!t.starts_with('}')) {
    t.remove_prefix(1);
    std::size_t n = t.find(':');
    std::string label(t.substr(0, n));
    t.remove_prefix(n + 1);
    out.fields[label] = parse(t);
  }
  t.remove_prefix(1);
  return out;
}

bool has_error(const Shown& v) {
  if (v.leaf == "!" || v.leaf == "?") return true;
  return std::ranges::any_of(v.fields, [](auto& f) { return has_error(f.second); });
}

// Equal, but an error on either side stands for anything: where the fields of a cycle or of an embedding contradict
// each other, both sides find an error, not always at the same one of them. Of a value that lacks something and has
// errors inside either may be told.
bool agree(const Shown& a, const Shown& b) {
  if (a.leaf == "!" || b.leaf == "!") return true;
  if ((a.leaf == "?" && has_error(b)) || (b.leaf == "?" && has_error(a))) return true;
  if (a.leaf != b.leaf || a.fields.size() != b.fields.size()) return false;
  for (auto& [label, x] : a.fields) {
    auto y = b.fields.find(label);
    if (y == b.fields.end() || !agree(x, y->second)) return false;
  }
  return true;
}

bool agree(std::string_view slow, std::string_view fast) {
  if (slow == fast) return true;
  if (slow.find_first_of("!?") == slow.npos || fast.find_first_of("!?") == fast.npos) return false;
  Shown a = parse(slow), b = parse(fast);
  return agree(a, b);
}

// Random programs through both. TUTTI_KCUE_RANDOM=N runs N of them (and TUTTI_KCUE_SEED sets the first). The reference
// gives up on four in ten. Among later programs there are some on which the two differ: an embedded field that refers
// to what it is embedded in through a projection (seed 1213), and structures without end that are not told as such.
TEST(KCue, RandomProgramsAgree) {
  u64 count = 1000, first = 1;
  if (const char* n = std::getenv("TUTTI_KCUE_RANDOM")) count = std::strtoull(n, nullptr, 10);
  if (const char* n = std::getenv("TUTTI_KCUE_SEED")) first = std::strtoull(n, nullptr, 10);
  u64 different = 0;
  std::map<std::string, u64> kinds;
  for (u64 seed = first; seed < first + count; ++seed) {
    TermPtr program = random_program(seed);
    std::string text = source(program), slow = reference_value(program);
    if (std::getenv("TUTTI_KCUE_TRACE")) std::cerr << "seed " << seed << "\n" << text;
    Evaluated fast = evaluate_core(text);
    bool named = slow == "unknown" || slow == "endless";
    ++kinds[named ? slow : slow.find_first_of("!?") != std::string::npos ? "error" : "value"];
    if (slow == "unknown") continue;
    if (slow == "endless" ? fast.structural_cycle : agree(slow, fast.text)) continue;
    if (++different <= 20)
      ADD_FAILURE() << "seed " << seed << "\n" << text << "reference: " << slow << "\nevaluator: " << fast.text;
  }
  EXPECT_EQ(different, 0u);
  for (auto& [kind, n] : kinds) RecordProperty(kind, static_cast<int>(n));
  // A campaign that meets only errors, or gives up on many, would prove little.
  EXPECT_GT(kinds["value"], count / 8);
  EXPECT_GT(kinds["endless"], 0u);
  EXPECT_LT(kinds["unknown"], count / 2);
}

}  // namespace
}  // namespace tutti::cue
