#include <gtest/gtest.h>

#include "format/write.h"
#include "lang/puppet/catalog/output.h"
#include "lang/puppet/eval/compiler.h"

namespace tutti::puppet {
namespace {

// The message of Notify[x] as the catalog has it, or the errors.
std::string message(const std::string& manifest) {
  Session session;
  Environment environment({}, session.sources, session.budget.limits());
  const Program* program = environment.add_manifest(**session.sources->add("input.pp", manifest), session.diagnostics);
  NodeInfo node;
  node.name = "test.example.com";
  node.facts = make_hash(session.arena, {});
  Compiler compiler(environment, session, std::move(node));
  if (program == nullptr || !compiler.compile(std::span<const Program* const>(&program, 1)))
    return render(session.diagnostics, *session.sources, DiagnosticStyle::kLine, false);
  StringSink out;
  write_catalog(compiler, out, true);
  std::string text = out.take();
  std::size_t from = text.find("\"message\":");
  if (from == std::string::npos) return "none";
  from += 10;
  return text.substr(from, text.find("}],\"edges\"", from) - from);
}

std::string value(const std::string& expression) { return message("notify { 'x': message => [" + expression + "] }"); }

TEST(TypeData, ReferencesWithinTypesAreObjects) {
  EXPECT_EQ(value("File['/x']"), R"(["File[/x]"]})");
  EXPECT_NE(value("Optional[File['/x']]").find(R"({"__ptype":"Pcore::ResourceType","type_name":"File","title":"/x"})"),
            std::string::npos);
  EXPECT_NE(value("Type[Class['a']]").find(R"({"__ptype":"Pcore::ClassType","class_name":"a"})"), std::string::npos);
}

TEST(TypeData, ListsWithReferencesAreFlat) {
  EXPECT_EQ(value("'q', [File['/a', '/b']], [['r']]"), R"(["q","File[/a]","File[/b]","r"]})");
  EXPECT_EQ(value("'q', [['r']]"), R"(["q",[["r"]]]})");
}

TEST(TypeData, ArgumentsOfTypesAreThere) {
  EXPECT_NE(value("Init[Integer, 16]").find(R"("init_args":[16])"), std::string::npos);
  EXPECT_EQ(value("Init[Integer, 16].new('0xff')"), "[255]}");
  EXPECT_NE(value("Runtime['ruby', 'x']").find(R"("runtime":"ruby","name_or_pattern":"x")"), std::string::npos);
  EXPECT_NE(value("Callable[1, 2]").find(R"("types":[{"__ptype":"Pcore::UnitType"}])"), std::string::npos);
  EXPECT_NE(value("Object[{ name => 'A', attributes => { x => Integer } }]")
                .find(R"("_pcore_init_hash":{"name":"A","attributes":{"x":{"__ptype":"Pcore::IntegerType"}})"),
            std::string::npos);
}

TEST(TypeData, AliasesByNameAndWhatTheyStandFor) {
  EXPECT_NE(message("type My = Integer\nnotify { 'x': message => [My] }")
                .find(R"({"__ptype":"Pcore::TypeAliasType","name":"My","type_expr":null,"resolved_type":{)"),
            std::string::npos);
  for (const char* v : {"T", "{ a => [T] }", "Sensitive(T)", "Deferred('f', [T])", "Optional[T]"}) {
    std::string answer = message(std::string("type T = Array[T]\nnotify { 'x': message => ") + v + " }");
    EXPECT_NE(answer.find("contains itself"), std::string::npos) << v << ": " << answer;
  }
}

}  // namespace
}  // namespace tutti::puppet
