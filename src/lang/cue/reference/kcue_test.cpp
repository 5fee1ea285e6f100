#include "lang/cue/reference/kcue.h"

#include <gtest/gtest.h>

#include "lang/cue/load/instance.h"

// The cases of the slides through the reference interpreter and through the evaluator: both must come to the same
// value.
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

}  // namespace
}  // namespace tutti::cue
