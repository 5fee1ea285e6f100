#include "lang/cue/reference/kcue.h"

#include <gtest/gtest.h>

#include <random>

#include "lang/cue/load/instance.h"

// Core programs through the reference interpreter and through the evaluator: both must come to the same value.
namespace tutti::cue {
namespace {

using namespace kcue;

std::string show_value(Context& ctx, Vertex* v) {
  v = v->deref_value();
  if (Bottom* b = v->bottom(); b && !(b->child_error && b->node == v)) return b->incomplete() ? "?" : "!";
  if (v->base && v->base->type != NodeType::kStructMarker && v->base->type != NodeType::kBottom) {
    std::string s = compact(v->base);
    return s;
  }
  std::map<std::string, std::string> fields;
  for (Vertex* a : v->arcs)
    if (a->label.is_regular() && a->arc_type == ArcType::kMember) fields[a->label.plain()] = show_value(ctx, a);
  if (fields.empty()) return "_";
  std::string out = "{";
  for (auto& [k, x] : fields) out += (out.size() > 1 ? "," : "") + k + ":" + x;
  return out + "}";
}

std::string evaluate(const std::string& text) {
  Session session;
  auto source = session.sources->add("core.cue", text);
  Instance instance(session);
  const Source* one[] = {*source};
  if (!instance.load_sources(one)) return "error: " + (instance.errors().empty() ? "" : instance.errors()[0].message);
  return show_value(instance.context(), instance.evaluate());
}

std::string reference_value(const TermPtr& program) {
  auto out = run(program);
  return out ? show(out->value) : "diverges";
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

TEST(KCue, StructuralCyclesHaveNoFixPoint) {
  TermPtr p = all({field("a", field("b", kcue::reference("a", 2)))});
  EXPECT_EQ(reference_value(p), "diverges");
  EXPECT_EQ(evaluate("a: b: a\n"), "{a:{b:!}}");
}

// Programs whose references are all bound: a reference names a label of a scope around it, the innermost that has it.
class Generator {
 public:
  explicit Generator(u32 seed) : random_(seed) {}

  TermPtr program() {
    scopes_.clear();
    return scope(0);
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<u32>(n)); }

  TermPtr scope(int depth) {
    static const char* kLabels[] = {"a", "b", "c", "d"};
    std::vector<std::string> labels;
    int n = 1 + pick(depth == 0 ? 4 : 3);
    for (int i = 0; i < n; ++i) labels.push_back(kLabels[pick(4)]);
    scopes_.push_back(labels);
    std::vector<TermPtr> terms;
    for (auto& l : labels) terms.push_back(field(l, value(depth + 1)));
    if (pick(4) == 0)
      if (TermPtr r = ref(0)) terms.push_back(r);
    scopes_.pop_back();
    return all(terms);
  }

  // A reference from `extra` anonymous scopes further in.
  TermPtr ref(int extra) {
    std::vector<std::pair<std::string, int>> visible;
    for (std::size_t k = scopes_.size(); k-- > 0;)
      for (auto& l : scopes_[k]) {
        bool shadowed = false;
        for (auto& [name, d] : visible) shadowed |= name == l;
        if (!shadowed) visible.emplace_back(l, static_cast<int>(scopes_.size() - 1 - k) + extra);
      }
    if (visible.empty()) return nullptr;
    auto& [l, d] = visible[static_cast<std::size_t>(pick(static_cast<int>(visible.size())))];
    return kcue::reference(l, d);
  }

  TermPtr value(int depth) {
    static const char* kConstants[] = {"1", "2", "int", "\"s\"", "string", "_"};
    // the value of a field is a scope of its own, without names unless it is a struct
    switch (pick(depth > 3 ? 6 : 9)) {
      case 0:
      case 1:
      case 2: return constant(kConstants[pick(6)]);
      case 3:
      case 4: {
        scopes_.push_back({});
        TermPtr r = ref(0);
        scopes_.pop_back();
        return r;
      }
      case 5: {
        static const char* kLabels[] = {"a", "b", "c", "d"};
        scopes_.push_back({});
        TermPtr r = ref(1);
        scopes_.pop_back();
        return project(r, kLabels[pick(4)]);
      }
      default: return scope(depth);
    }
  }

  std::mt19937 random_;
  std::vector<std::vector<std::string>> scopes_;
};

TEST(KCue, RandomProgramsAgree) {
  int count = 3000;
  if (const char* n = getenv("TUTTI_KCUE_PROGRAMS")) count = atoi(n);
  int compared = 0, wrong = 0;
  for (int seed = 1; seed <= count && wrong < 10; ++seed) {
    TermPtr p = Generator(static_cast<u32>(seed)).program();
    auto out = run(p, 25, 3000);
    if (!out) continue;
    ++compared;
    std::string want = show(out->value), text = source(p), got = evaluate(text);
    if (got != want) {
      ++wrong;
      ADD_FAILURE() << "seed " << seed << "\n" << text << "reference " << want << "\nevaluator " << got;
    }
  }
  EXPECT_GT(compared, count / 3);
}

}  // namespace
}  // namespace tutti::cue
