#include "lang/cue/reference/kcue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "lang/cue/load/instance.h"
#include "lang/cue/reference/closures.h"
#include "lang/cue/reference/random.h"
#include "lang/cue/reference/reduce.h"

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

Evaluated evaluate_core(const std::string& text) try {
  Limits limits;
  limits.depth = 60;
  limits.steps = 1'000'000;  // many times what any of the programs needs that the reference decides
  Session session(limits);
  auto source = session.sources->add("core.cue", text);
  Instance instance(session);
  const Source* one[] = {*source};
  if (!instance.load_sources(one)) return {"error: " + (instance.errors().empty() ? "" : instance.errors()[0].message)};
  Vertex* root = instance.evaluate();
  return {show_value(instance.context(), root), has_structural_cycle(root)};
} catch (const LimitError& e) {
  return {"limit: " + std::string(e.what())};
}

std::string evaluate(const std::string& text) { return evaluate_core(text).text; }

std::string named(End end, std::string text) {
  return end == End::kEndless ? "endless" : end == End::kUnknown ? "unknown" : text;
}
std::string by_rules(const TermPtr& program) {
  Outcome out = run(program);
  return named(out.end, show(out.value));
}
std::string by_closures(const TermPtr& program) {
  Decided out = run_closures(program);
  return named(out.end, out.text);
}

TEST(KCue, ReferencesAccumulate) {
  // x: x: a: 1, x
  TermPtr p = all({field("x", field("x", field("a", constant("1")))), kcue::reference("x", 0)});
  EXPECT_EQ(by_rules(p), "{a:1,x:{a:1,x:{a:1}}}");
  EXPECT_EQ(by_closures(p), "{a:1,x:{a:1,x:{a:1}}}");
  EXPECT_EQ(evaluate("x: x: a: 1\nx\n"), "{a:1,x:{a:1,x:{a:1}}}");
}

TEST(KCue, ProjectionInACycle) {
  // a: {b: {c: a, d: c.e}.d, e: 1}
  TermPtr inner = all({field("c", kcue::reference("a", 4)), field("d", project(kcue::reference("c", 2), "e"))});
  TermPtr p = all({field("a", all({field("b", project(inner, "d")), field("e", constant("1"))}))});
  EXPECT_EQ(by_rules(p), "{a:{b:1,e:1}}");
  EXPECT_EQ(by_closures(p), "{a:{b:1,e:1}}");
  EXPECT_EQ(evaluate("a: {b: {c: a, d: c.e}.d, e: 1}\n"), "{a:{b:1,e:1}}");
  EXPECT_EQ(evaluate("a: {b: {c: a & _, d: c.e}.d, e: 1}\n"), "{a:{b:1,e:1}}");
}

TEST(KCue, ExampleOfTheSlides) {
  // x: y: 1, p: {x, z: x.y}
  TermPtr p = all({field("x", field("y", constant("1"))),
                   field("p", all({kcue::reference("x", 1), field("z", project(kcue::reference("x", 3), "y"))}))});
  EXPECT_EQ(by_rules(p), "{p:{y:1,z:1},x:{y:1}}");
  EXPECT_EQ(by_closures(p), "{p:{y:1,z:1},x:{y:1}}");
  EXPECT_EQ(evaluate("x: y: 1\np: {x, z: x.y}\n"), "{p:{y:1,z:1},x:{y:1}}");
}

TEST(KCue, ReferenceCyclesSayNothing) {
  TermPtr p = all({field("a", kcue::reference("b", 1)), field("b", kcue::reference("a", 1))});
  EXPECT_EQ(by_rules(p), "{a:_,b:_}");
  EXPECT_EQ(by_closures(p), "{a:_,b:_}");
  EXPECT_EQ(evaluate("a: b\nb: a\n"), "{a:_,b:_}");
}

// What random programs that once differed were reduced to; the values are those of the rules.
TEST(KCue, FieldsThatLeadBackThroughLiterals) {
  EXPECT_EQ(evaluate("d: {a: {x: d, b: x.a}.b, a: 1}"), "{d:{a:1}}");
  EXPECT_EQ(evaluate("x: {a: {a}.b, a: {b: {c: 1}}}"), "{x:{a:{b:{c:1},c:1}}}");
  EXPECT_EQ(evaluate("c: {{a: {{a: {c}.a}}.a}}"), "{c:{a:_}}");
  EXPECT_EQ(evaluate("{d: {a: {a: {d: c}.d.a, c: d}.a}}"), "{d:{a:_}}");
  EXPECT_EQ(evaluate("d: {a: {a: {d: e, a: d.a}.a}.a}\ne: d"), "{d:{a:_},e:{a:_}}");
}

TEST(KCue, StructuresWithoutEnd) {
  EXPECT_TRUE(evaluate_core("c: {d: c, d: c.d.d}").structural_cycle);
  EXPECT_TRUE(evaluate_core("c: {d: c.d.d, d: c}").structural_cycle);
  EXPECT_TRUE(evaluate_core("e: {d: {e, b: d}, d: {b: {d: {b: {c: e, c: d, d: _}}}}}").structural_cycle);
  EXPECT_TRUE(evaluate_core("b\nb: {b: {b: {b: {c: {b}, b: _}}, b: c}}\nc: _").structural_cycle);
}

// What the rules of cycles miss, or take for one though it comes to an end, in the words of the reference.
TEST(KCue, UnfoldedToTheEnd) {
  EXPECT_EQ(evaluate("c: {c: {e: _, {{{b: {d: {d: e}}.b, c}}}.e}}"), "{c:{c:{e:_}}}");
  EXPECT_EQ(evaluate("c: {b: {b: {c: {b: {c: {d: {a: 1}}}, c}.b}}, c: b, c}"),
            "{c:{b:{b:{c:{c:{d:{a:1}}}},c:{c:{d:{a:1}}}},c:{b:{c:{c:{d:{a:1}}}},c:{c:{d:{a:1}},d:{a:1}},d:{a:1}},"
            "d:{a:1}}}");
  EXPECT_EQ(evaluate("c: {b: {b: {b: {d: _}, {c: d, c: c.d}, {c: b}}}, d: {c: _}}"),
            "{c:{b:{b:{b:{d:_},c:{c:_,d:_}}},d:{c:_}}}");
  EXPECT_EQ(evaluate("d: {d: a.e}\nc: _\nd: {e: {a: 1}, c.b}.e\na: 1"), "{a:1,c:_,d:{a:1,d:!}}");
  EXPECT_EQ(evaluate("c: {d: {e: d, {d: {a: _}, c.d}.d, c.e}}"), "{c:{d:{a:_,e:!}}}");
  EXPECT_EQ(evaluate("c: {{b: {b: c}, c: {a: 1}}}\nb: c\nb: b.b"),
            "{b:{a:1,b:{a:1,b:{a:1}},c:{a:1}},c:{b:{b:{a:1}},c:{a:1}}}");
  EXPECT_EQ(evaluate("d: {c: {a: _, {d: {c: a}, c}.c}}"), "{d:{c:?}}");
  EXPECT_TRUE(evaluate_core("c: {c: {b: _, c: b.b}, {b: {c.b}, {b: c}, c}, b: {{b: {b: c, c.c}}}}").structural_cycle);
  EXPECT_TRUE(
      evaluate_core("b: {d: {c: _, d: {d: {d: {d: {d: {d: {d: _}}}, {d: c, {d: _, d: {d: _, d: {d: d.d}, d: c}, "
                    "b}}}}, c}}}\nb")
          .structural_cycle);
  EXPECT_TRUE(evaluate_core("b: {c: {c: _}, c: b}\nb: b.c.c.c").structural_cycle);
  EXPECT_TRUE(evaluate_core("b: {e: {{c: {e: {d: {e: {{e: d}, d: d.e}}, d: c}}}}}").structural_cycle);
  EXPECT_TRUE(evaluate_core("c: b\nb\nb: {b: {b: {b: _, b: {c: {c: b, a: _, b}, b: _, b: c}, b: _}, b: c}, b: c.b}")
                  .structural_cycle);
}

// A selection from a plain value is an error, in a literal as well, but not where the value comes from that literal.
TEST(KCue, PlainValuesThatFeedThemselves) {
  EXPECT_EQ(evaluate("e: {b: {e: b.c, {a: 1, e}}.a}"), "{e:{b:1}}");
  EXPECT_EQ(evaluate("e: {b: {e: b.c, {a: 1, e}}.a}\ne: {b: 1}"), "{e:{b:!}}");
  EXPECT_EQ(evaluate("b: 1\nb: {a: 1, b.c}.a"), "{b:!}");
}

// A value as shown, taken apart.
struct Shown {
  char lack = 0;  // ? or %
  std::string leaf;
  std::map<std::string, Shown> fields;
};

Shown parse(std::string_view& t) {
  Shown out;
  if (t.size() > 1 && (t[0] == '?' || t[0] == '%') && t[1] != ',' && t[1] != '}') {
    out.lack = t[0];
    t.remove_prefix(1);
  }
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

bool has(std::string_view text, const char* any) { return text.find_first_of(any) != text.npos; }

bool lacks_something(const Shown& v) {
  if (v.leaf == "?") return true;
  return std::ranges::any_of(v.fields, [](auto& f) { return lacks_something(f.second); });
}

// Whether the evaluator's value is that of the reference. Of what lacks something the evaluator may say that, or go on
// to say it of a part, or show the value it has otherwise. An error stands for anything: where the fields of a cycle or
// of an embedding contradict each other, both sides find an error, not always at the same one.
bool agree(const Shown& slow, const Shown& fast) {
  if (slow.leaf == "!" || fast.leaf == "!" || slow.leaf == "~") return true;
  if (slow.lack && lacks_something(fast)) return true;
  if (slow.leaf != fast.leaf || slow.fields.size() != fast.fields.size()) return false;
  for (auto& [label, x] : slow.fields) {
    auto y = fast.fields.find(label);
    if (y == fast.fields.end() || !agree(x, y->second)) return false;
  }
  return true;
}

bool agree(std::string_view slow, std::string_view fast) {
  if (slow == fast) return true;
  if (has(slow, "!") && !has(fast, "!?")) return false;
  if (has(fast, "!") && !has(slow, "!?%~")) return false;
  Shown a = parse(slow), b = parse(fast);
  return agree(a, b);
}

struct Campaign {
  u64 first = 1, count;
  explicit Campaign(u64 usual) : count(usual) {
    if (const char* n = std::getenv("TUTTI_KCUE_RANDOM")) count = std::strtoull(n, nullptr, 10);
    if (const char* n = std::getenv("TUTTI_KCUE_SEED")) first = std::strtoull(n, nullptr, 10);
  }
};

// The rules as published against the closures, wherever the rewriting comes to an end.
TEST(KCue, ClosuresFollowTheRules) {
  Campaign c(300);
  u64 ended = 0;
  for (u64 seed = c.first; seed < c.first + c.count; ++seed) {
    TermPtr program = random_program(seed);
    std::string rules = by_rules(program);
    // A reference to the place it stands at copies projections as they were before they found anything: that one of
    // them is missing tells nothing then.
    if (rules == "unknown" || has(rules, "?")) continue;
    std::string closures = by_closures(program);
    if (closures == "unknown" || has(closures, "~?")) continue;
    std::erase(closures, '%');
    ++ended;
    EXPECT_EQ(closures, rules) << "seed " << seed << "\n" << source(program);
  }
  EXPECT_GT(ended, c.count / 4);
}

// How often each construct occurs in what a campaign makes.
void census(const TermPtr& t, bool embedded, std::map<std::string, u64>& counts) {
  switch (t->kind) {
    case TermKind::kConst: ++counts[embedded ? "embedded constant" : t->text == "_|_" ? "bottom" : "constant"]; return;
    case TermKind::kRef:
      ++counts[embedded ? "embedded reference" : t->depth == 0 ? "reference ^0" : "reference"];
      return;
    case TermKind::kField: ++counts["field"]; return census(t->inner, false, counts);
    case TermKind::kProject:
      ++counts[t->inner->kind == TermKind::kAll ? "projection from a literal" : "projection"];
      return census(t->inner, false, counts);
    case TermKind::kAll:
      ++counts[embedded ? "embedded literal" : "conjunction"];
      for (auto& x : t->all) census(x, true, counts);
  }
}

void print_census(const std::map<std::string, u64>& counts, u64 made) {
  for (const auto& [what, n] : counts) std::cout << "  " << what << ": " << n << " in " << made << "\n";
}

// A program through the closures and the evaluator.
struct Compared {
  std::string slow;
  Evaluated fast;
  bool undecided, same, slow_to_end = false;
};

Compared compared(const TermPtr& program) {
  Compared out{by_closures(program), evaluate_core(source(program)), false, true};
  out.undecided = out.slow == "unknown" || has(out.slow, "~");
  // what the reference cannot decide the evaluator may leave at a limit, or take for the structure without end that it
  // is within what lacks something
  if (out.undecided && (out.slow == "unknown" || out.fast.structural_cycle || out.fast.text.starts_with("limit")))
    return out;
  // That it has no end the evaluator may say by a limit (docs/known.md): no other answer, but counted.
  out.slow_to_end = out.slow == "endless" && out.fast.text.starts_with("limit");
  if (out.slow_to_end) return out;
  out.same = out.slow == "endless" ? out.fast.structural_cycle : agree(out.slow, out.fast.text);
  return out;
}

// Random programs through the closures and the evaluator. TUTTI_KCUE_RANDOM=N runs N of them (and TUTTI_KCUE_SEED sets
// the first).
TEST(KCue, RandomProgramsAgree) {
  Campaign c(300);
  bool trace = std::getenv("TUTTI_KCUE_TRACE");
  u64 different = 0;
  std::map<std::string, u64> kinds, constructs;
  std::chrono::duration<double> longest{};
  for (u64 seed = c.first; seed < c.first + c.count; ++seed) {
    TermPtr program = random_program(seed);
    census(program, false, constructs);
    if (trace) std::cerr << "seed " << seed << "\n" << source(program);
    auto start = std::chrono::steady_clock::now();
    Compared one = compared(program);
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (took > longest) {
      longest = took;
      RecordProperty("slowest", std::to_string(seed) + ": " + std::to_string(took.count()) + " s");
    }
    ++kinds[one.slow_to_end         ? "endless, by a limit"
            : one.undecided         ? "unknown"
            : one.slow == "endless" ? "endless"
            : has(one.slow, "!?")   ? "error"
                                    : "value"];
    if (one.same || ++different > 50) continue;
    program = reduced(program, [](const TermPtr& p) { return !compared(p).same; });
    one = compared(program);
    ADD_FAILURE() << "seed " << seed << "\n"
                  << source(program) << "reference: " << one.slow << "\nevaluator: " << one.fast.text;
  }
  EXPECT_EQ(different, 0u);
  RecordProperty("different", static_cast<int>(different));
  for (auto& [kind, n] : kinds) RecordProperty(kind, static_cast<int>(n));
  std::cout << c.count << " made, " << 100 * kinds["value"] / c.count << " % have a value\n";
  print_census(kinds, c.count);
  print_census(constructs, c.count);
  // A campaign that meets only errors, or gives up on many, would prove little.
  EXPECT_GT(kinds["value"], c.count / 3);
  EXPECT_GT(kinds["endless"], 0u);
  EXPECT_LT(kinds["unknown"], c.count / 10);
  EXPECT_LE(kinds["endless, by a limit"], c.count / 2000);
}

}  // namespace
}  // namespace tutti::cue
