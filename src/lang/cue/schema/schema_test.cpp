#include "lang/cue/export/schema.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lang/cue/eval/validate.h"
#include "lang/cue/format/format.h"
#include "lang/cue/import/decode_file.h"
#include "lang/cue/load/instance.h"

// JSON Schema read as CUE lets pass what the schema lets pass and refuses the rest; written as JSON Schema again and
// read back, it still lets pass what it did.
namespace tutti::cue {
namespace {

struct Case {
  const char* name;
  const char* schema;
  std::vector<const char*> valid, invalid;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"true", "true", {"1", "null", "{}"}, {}},
      {"false", "false", {}, {"1", "null", "{}"}},
      {"empty", "{}", {"1", "\"a\"", "[]"}, {}},
      {"type string", R"({"type":"string"})", {"\"\"", "\"a\""}, {"1", "null", "{}", "[]", "true"}},
      {"type integer", R"({"type":"integer"})", {"0", "-7"}, {"1.5", "\"1\"", "null"}},
      {"type number", R"({"type":"number"})", {"0", "-7.25"}, {"\"1\"", "false"}},
      {"type boolean", R"({"type":"boolean"})", {"true", "false"}, {"0", "null"}},
      {"type null", R"({"type":"null"})", {"null"}, {"0", "\"\"", "{}"}},
      {"type array", R"({"type":"array"})", {"[]", "[1,\"a\"]"}, {"{}", "1"}},
      {"type object", R"({"type":"object"})", {"{}", "{\"a\":1}"}, {"[]", "1"}},
      {"several types", R"({"type":["string","null"]})", {"\"a\"", "null"}, {"1", "{}"}},
      {"enum", R"({"enum":["a",1,null]})", {"\"a\"", "1", "null"}, {"\"b\"", "2", "{}"}},
      {"enum of objects",
       R"({"enum":[{"a":1},[2]]})",
       {"{\"a\":1}", "[2]"},
       {"{}", "{\"a\":1,\"b\":2}", "[]", "[2,3]"}},
      {"enum and type", R"({"type":"string","enum":["a",1]})", {"\"a\""}, {"1", "\"b\""}},
      {"const", R"({"const":"x"})", {"\"x\""}, {"\"y\"", "1"}},
      {"minimum", R"({"minimum":3})", {"3", "4", "\"a\"", "null"}, {"2", "2.9"}},
      {"maximum", R"({"type":"number","maximum":3})", {"3", "-1"}, {"3.1", "\"a\""}},
      {"exclusive bounds", R"({"exclusiveMinimum":1,"exclusiveMaximum":3})", {"2", "1.5"}, {"1", "3"}},
      {"exclusive bounds of draft 4",
       R"({"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true})",
       {"2"},
       {"1"}},
      {"multipleOf", R"({"type":"integer","multipleOf":3})", {"0", "9"}, {"10"}},
      {"lengths", R"({"minLength":2,"maxLength":3})", {"\"ab\"", "\"abc\"", "\"äöü\"", "7"}, {"\"a\"", "\"abcd\""}},
      {"pattern", R"({"pattern":"^a+$"})", {"\"aa\"", "1"}, {"\"b\"", "\"ab\""}},
      {"format", R"({"type":"string","format":"date-time"})", {"\"2024-01-02T03:04:05Z\""}, {"\"yesterday\""}},
      {"items", R"({"items":{"type":"integer"}})", {"[]", "[1,2]", "{}"}, {"[\"a\"]", "[1,\"a\"]"}},
      {"prefixItems",
       R"({"prefixItems":[{"type":"integer"},{"type":"string"}]})",
       {"[]", "[1]", "[1,\"a\"]", "[1,\"a\",null]"},
       {"[\"a\"]", "[1,2]"}},
      {"prefixItems closed", R"({"prefixItems":[{"type":"integer"}],"items":false})", {"[]", "[1]"}, {"[1,2]"}},
      {"items by position in draft 7",
       R"({"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"integer"}],"additionalItems":{"type":"string"}})",
       {"[1]", "[1,\"a\"]"},
       {"[\"a\"]", "[1,2]"}},
      {"item counts", R"({"minItems":1,"maxItems":2})", {"[1]", "[1,2]", "\"x\""}, {"[]", "[1,2,3]"}},
      {"uniqueItems", R"({"uniqueItems":true})", {"[1,2]", "[]"}, {"[1,1]"}},
      {"contains", R"({"contains":{"type":"integer"}})", {"[\"a\",1]"}, {"[]", "[\"a\"]"}},
      {"minContains", R"({"contains":{"type":"integer"},"minContains":2})", {"[1,2]"}, {"[1]"}},
      {"maxContains", R"({"contains":{"type":"integer"},"maxContains":1})", {"[1]"}, {"[1,2]", "[]"}},
      {"properties", R"({"properties":{"a":{"type":"integer"}}})", {"{}", "{\"a\":1,\"b\":2}", "3"}, {"{\"a\":\"x\"}"}},
      {"properties with names of types",
       R"({"type":"object","properties":{"string":{"type":"string"},"int":{"type":"integer"},"strings":{"minLength":1}}})",
       {"{\"string\":\"a\",\"int\":1,\"strings\":\"b\"}"},
       {"{\"string\":1}", "{\"int\":\"a\"}", "{\"strings\":\"\"}"}},
      {"required", R"({"type":"object","required":["a","b c"]})", {"{\"a\":1,\"b c\":2}"}, {"{}", "{\"a\":1}"}},
      {"additionalProperties false",
       R"({"properties":{"a":{}},"additionalProperties":false})",
       {"{}", "{\"a\":1}"},
       {"{\"b\":1}"}},
      {"additionalProperties schema",
       R"({"properties":{"a.b":{}},"additionalProperties":{"type":"integer"}})",
       {"{\"a.b\":\"x\",\"c\":1}"},
       {"{\"c\":\"x\"}", "{\"aXb\":\"x\"}"}},
      {"patternProperties",
       R"({"patternProperties":{"^s":{"type":"string"}}})",
       {"{\"s\":\"a\",\"t\":1}"},
       {"{\"sx\":1}"}},
      {"patternProperties closed",
       R"({"patternProperties":{"^s":{}},"additionalProperties":false})",
       {"{\"sx\":1}"},
       {"{\"t\":1}"}},
      {"propertyNames", R"({"propertyNames":{"pattern":"^[a-z]+$"}})", {"{\"abc\":1}", "{}"}, {"{\"A\":1}"}},
      {"property counts",
       R"({"minProperties":1,"maxProperties":2})",
       {"{\"a\":1}"},
       {"{}", "{\"a\":1,\"b\":2,\"c\":3}"}},
      {"dependentRequired",
       R"({"dependentRequired":{"a":["b"]}})",
       {"{}", "{\"b\":1}", "{\"a\":1,\"b\":2}", "7"},
       {"{\"a\":1}"}},
      {"dependentSchemas",
       R"({"dependentSchemas":{"a":{"properties":{"b":{"type":"integer"}}}}})",
       {"{\"b\":\"x\"}", "{\"a\":1,\"b\":2}"},
       {"{\"a\":1,\"b\":\"x\"}"}},
      {"dependentSchemas that nothing fulfils",
       R"({"dependentSchemas":{"a":false}})",
       {"{\"b\":1}", "{}", "7"},
       {"{\"a\":1}"}},
      {"dependencies",
       R"({"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"c":{"required":["d"]}}})",
       {"{\"a\":1,\"b\":1}", "{\"c\":1,\"d\":1}"},
       {"{\"a\":1}", "{\"c\":1}"}},
      {"allOf", R"({"allOf":[{"minimum":1},{"maximum":3}]})", {"2", "\"a\""}, {"0", "4"}},
      {"anyOf", R"({"anyOf":[{"type":"integer"},{"minimum":2}]})", {"1", "2.5", "\"x\""}, {"1.5"}},
      {"anyOf of types",
       R"({"anyOf":[{"type":"integer"},{"type":"string","minLength":2}]})",
       {"1", "\"ab\""},
       {"\"a\"", "null"}},
      {"oneOf",
       R"({"oneOf":[{"multipleOf":2,"type":"integer"},{"multipleOf":3,"type":"integer"}]})",
       {"2", "9"},
       {"6", "1"}},
      {"oneOf of objects",
       R"({"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}]})",
       {"{\"a\":1}", "{\"b\":1}"},
       {"{}", "{\"a\":1,\"b\":1}"}},
      {"not", R"({"not":{"type":"integer"}})", {"\"a\"", "1.5", "null"}, {"1"}},
      {"if then else",
       R"({"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}})",
       {"{\"a\":1,\"b\":0}", "{\"a\":2,\"c\":0}", "{\"c\":1}"},
       {"{\"a\":1}", "{\"a\":2}"}},
      {"ref to definitions",
       R"({"$defs":{"p":{"type":"integer","minimum":1}},"properties":{"a":{"$ref":"#/$defs/p"}}})",
       {"{\"a\":1}"},
       {"{\"a\":0}", "{\"a\":\"x\"}"}},
      {"ref beside others", R"({"$defs":{"p":{"minimum":1}},"$ref":"#/$defs/p","maximum":3})", {"1", "3"}, {"0", "4"}},
      {"ref alone before 2019",
       R"({"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"p":{"minimum":1}},"properties":{"a":{"$ref":"#/definitions/p","maximum":3}}})",
       {"{\"a\":9}"},
       {"{\"a\":0}"}},
      {"ref to the root",
       R"({"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false})",
       {"{\"next\":{\"next\":{}}}"},
       {"{\"next\":{\"other\":1}}", "{\"next\":1}"}},
      {"ref to a property",
       R"({"properties":{"a":{"type":"integer"},"b":{"$ref":"#/properties/a"}}})",
       {"{\"a\":1,\"b\":2}"},
       {"{\"b\":\"x\"}"}},
      {"ref with an escape",
       R"({"$defs":{"a/b~c":{"type":"integer"}},"properties":{"x":{"$ref":"#/$defs/a~1b~0c"}}})",
       {"{\"x\":1}"},
       {"{\"x\":\"a\"}"}},
      {"anchor",
       R"({"$defs":{"p":{"$anchor":"here","type":"integer"}},"items":{"$ref":"#here"}})",
       {"[1]"},
       {"[\"a\"]"}},
      {"id",
       R"({"$id":"https://example.com/root","$defs":{"p":{"$id":"sub","type":"integer"}},"items":{"$ref":"sub"}})",
       {"[1]"},
       {"[\"a\"]"}},
      {"recursive definition",
       R"({"$ref":"#/$defs/tree","$defs":{"tree":{"type":"object","required":["v"],"properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}}})",
       {"{\"v\":1,\"kids\":[{\"v\":2}]}"},
       {"{\"v\":1,\"kids\":[{}]}", "{\"v\":1,\"kids\":[{\"v\":\"x\"}]}"}},
  };
  return kCases;
}

struct Text {
  std::string imports, body;
};

Text text_of(Arena& arena, ast::Node* node) {
  auto part = [&](bool imports) {
    std::vector<ast::Node*> decls;
    for (ast::Node* d : static_cast<ast::File*>(node)->decls)
      if ((d->kind == ast::Kind::kImport) == imports) decls.push_back(d);
    ast::File file;
    file.decls = make_nodes(arena, decls);
    return format_node(&file);
  };
  return {part(true), part(false)};
}

std::string read_schema(Session& session, Arena& arena, const std::string& json, Text& out) {
  auto source = session.sources->add("schema.json", json);
  Decoded d = decode_json(**source, arena);
  if (!d.ok()) return d.errors[0].message;
  Decoded s = decode_json_schema(d.documents[0], **source, arena, {{"strict", "true"}}, session.sources.get());
  if (!s.ok()) return s.errors[0].message;
  out = text_of(arena, s.documents[0]);
  return {};
}

// Nothing when the instance is accepted, else why not.
std::string check(const Text& schema, const std::string& instance) {
  Session session;
  std::string text = fmt::format("{}\nschema: {{\n{}\n}}\ndata: schema & {}\n", schema.imports, schema.body, instance);
  auto source = session.sources->add("test.cue", text);
  Instance loaded(session);
  const Source* one[] = {*source};
  if (!loaded.load_sources(one))
    return "does not load: " + (loaded.errors().empty() ? "" : loaded.errors()[0].message) + "\n" + text;
  Vertex* root = loaded.evaluate();
  Vertex* data = root->deref_value()->find_raw(Label::string("data"));
  if (!data) return "no data";
  ValidateConfig config;
  config.concrete = config.final = true;
  Bottom* b = validate_tree(loaded.context(), data, config);
  if (!b) return {};
  auto all = flatten(b);
  return all.empty() ? "refused" : all[0].message;
}

TEST(JsonSchema, SameInstances) {
  for (const Case& c : cases()) {
    Session session;
    Arena arena;
    Text text;
    ASSERT_EQ(read_schema(session, arena, c.schema, text), "") << c.name;
    for (const char* v : c.valid) EXPECT_EQ(check(text, v), "") << c.name << ": " << v << "\n" << text.body;
    for (const char* v : c.invalid) {
      std::string why = check(text, v);
      EXPECT_NE(why, "") << c.name << ": " << v << "\n" << text.body;
      EXPECT_FALSE(why.starts_with("does not load")) << c.name << ": " << why;
    }
  }
}

TEST(JsonSchema, WrittenAndReadBack) {
  for (const Case& c : cases()) {
    Session session;
    Arena arena;
    Text text;
    ASSERT_EQ(read_schema(session, arena, c.schema, text), "") << c.name;
    auto source = session.sources->add("schema.cue", text.imports + "\n" + text.body);
    Instance loaded(session);
    const Source* one[] = {*source};
    ASSERT_TRUE(loaded.load_sources(one)) << c.name << "\n" << text.body;
    Vertex* root = loaded.evaluate();
    std::string error;
    std::vector<LoadProblem> problems;
    ast::Node* written = generate_json_schema(loaded.context(), *session.sources, root, error, problems);
    ASSERT_TRUE(written) << c.name << ": " << error;
    Decoded again = decode_json_schema(written, **source, arena, {}, nullptr);
    ASSERT_TRUE(again.ok()) << c.name << ": " << again.errors[0].message << "\n" << format_node(written);
    Text back = text_of(arena, again.documents[0]);
    for (const char* v : c.valid)
      EXPECT_EQ(check(back, v), "") << c.name << ": " << v << "\n" << text.body << "---\n" << format_node(written);
  }
}

TEST(JsonSchema, Errors) {
  auto error = [](const char* schema) {
    Session session;
    Arena arena;
    Text text;
    return read_schema(session, arena, schema, text);
  };
  EXPECT_EQ(error(R"({"foo":1})"), "unknown keyword \"foo\"");
  EXPECT_EQ(error(R"({"unevaluatedItems":false})"), "keyword \"unevaluatedItems\" not yet implemented");
  EXPECT_EQ(error(R"({"type":"text"})"), "unknown type \"text\"");
  EXPECT_EQ(error(R"({"minLength":-1})"), "value of \"minLength\" must be an integer that is not negative");
  EXPECT_EQ(error(R"({"description":1})"), "invalid string");
  EXPECT_EQ(error(R"({"items":{"$ref":"#/nowhere"}})").substr(0, 41), "reference to \"#/nowhere\" cannot be resolv");
  EXPECT_EQ(error(R"(3)"), "invalid schema: a schema is an object or a boolean");
}

TEST(JsonSchema, Detection) {
  auto kind = [](const char* json) {
    Session session;
    Arena arena;
    auto source = session.sources->add("x.json", json);
    return detect_schema(decode_json(**source, arena).documents[0]);
  };
  EXPECT_EQ(kind(R"({"$schema":"http://json-schema.org/draft-07/schema#"})"), "jsonschema");
  EXPECT_EQ(kind(R"({"$schema":"https://example.com/mine"})"), "");
  EXPECT_EQ(kind(R"({"openapi":"3.1.0","info":{"title":"t","version":"v"}})"), "openapi");
  EXPECT_EQ(kind(R"({"openapi":"2.0"})"), "");
  EXPECT_EQ(kind("[1]"), "");
}

}  // namespace
}  // namespace tutti::cue
