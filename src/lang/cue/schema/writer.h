#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lang/cue/eval/vertex.h"
#include "lang/cue/load/packages.h"
#include "lang/cue/schema/build.h"

namespace tutti::cue {

class Context;

// CUE definitions as JSON Schema 2020-12, or as the schema objects of OpenAPI 3.0.
//
// What is written is the syntax that `def` would show, where references to definitions are still references: they
// become a $ref. What has no counterpart (a reference to a field, a comprehension, an embedded definition) is replaced
// by the syntax of its value. What JSON Schema cannot say at all is left out: the result lets more pass, never less.
class SchemaWriter {
 public:
  enum class Target { kJsonSchema, kOpenApi };
  SchemaWriter(Context& c, const Sources& sources, Vertex* root, Target target);

  ast::Node* json_schema();
  ast::Node* openapi();
  std::string error;
  bool expand_references = false;
  ast::Node* info = nullptr;          // that is given, instead of the one of the definitions
  std::vector<LoadProblem> problems;  // of what has no place in the document

 private:
  // A schema object: keywords in the order in which they are written.
  struct Schema {
    std::vector<std::pair<std::string, ast::Node*>> keys;
    ast::Node* find(std::string_view key) const;
    void set(std::string key, ast::Node* value);
    bool empty() const { return keys.empty(); }
  };

  // Where an expression stands: its value, for what cannot be written as it is, and whether structs are closed.
  static constexpr int kMaxDepth = 1'000;
  struct Place {
    Vertex* vertex = nullptr;
    bool closed = false;
    int depth = 0;
    bool evaluated = false;  // the syntax of a value: nothing to fall back to
    bool validator = false;  // an argument of one: fields without a value need not be there
    Place argument() const { return {nullptr, false, depth, evaluated, true}; }
  };

  Schema expression(ast::Node* x, const Place& at);
  Schema name(ast::Node* x, const Place& at);
  Schema bound(ast::Unary* x, const Place& at);
  Schema disjunction(ast::Node* x, const Place& at);
  // What is said of one object, by the structs of a conjunction and what they embed.
  struct Object;
  Schema structure(ast::Struct* s, const Place& at);
  bool gather(ast::Struct* s, const Place& at, Object& o);
  bool gather_embedded(ast::Node* x, const Place& at, Object& o);
  Schema object(const Object& o, const Place& at);
  Schema conjunction(std::span<ast::Node* const> parts, const Place& at);
  bool gives_values(std::span<ast::Node* const> parts, const Place& at, Object& whole);
  static bool is_choice(const ast::Node* x);
  Schema list(ast::List* l, const Place& at);
  Schema call(ast::Call* x, const Place& at);
  Schema match_n(ast::Call* x, const Place& at);
  Schema selector(ast::Node* x, const Place& at);
  Schema value_of(const Place& at);
  Schema constant(ast::Node* x);
  Schema merged(const Schema& a, const Schema& b);
  Schema any_of(std::span<ast::Node* const> arms);
  bool exclude_each_other(std::span<ast::Node* const> arms);
  bool exclude(const ast::Node* a, const ast::Node* b, int depth);
  ast::Node* referred(const ast::Node* s);
  ast::Node* definition_schema(const std::string& name);
  void number_bound(Schema& s, Tok op, ast::Node* number);
  Schema number_range(std::string_view type, std::string_view low, std::string_view high);
  Schema with_format(const Schema& s);
  ast::Node* node(const Schema& s);
  ast::Node* fields_of(const Schema& s);
  ast::Node* members(const Schema& s);  // by name, where the order says nothing
  bool may_be_left_out(const ast::Field* f, const Place& at);
  Schema followed(ast::Node* x, const Place& at);
  static bool surely_accepts(const Schema& s, const ast::Node* value);
  bool has_value(const ast::Node* x, const Place& at);
  ast::Node* text(std::string_view s) { return b_.text(s); }
  ast::Node* truth(bool v);
  ast::Node* reference(const std::string& definition);
  void describe(Schema& s, const ast::Node* field);
  bool is_open_api() const { return target_ == Target::kOpenApi; }
  ast::File* definition_file();
  ast::Node* with_missing(ast::Node* info, const Schema& standard);
  Schema schemas_of(std::span<ast::Field* const> definitions);

  Context& c_;
  const Sources& sources_;
  Vertex* root_;
  Target target_;
  Build b_;
  std::map<std::string, const ast::Node*> definitions_;  // what they are, by their names without the #
  static constexpr int kMostAtOnce = 20;
  int making_ = 0;                             // definitions, within each other
  bool loose_ = false;                         // something was left out, so that more passes
  std::map<std::string, ast::Field*> fields_;  // of the definitions
  std::map<std::string, Vertex*> vertices_;    // and with the #
  std::map<std::string, ast::Node*> schemas_;  // of those that are made, or are being made
  std::set<std::string> following_;            // whose schemas are being looked at
  std::map<std::string, bool> have_value_;     // of those, as far as it was asked
};

}  // namespace tutti::cue
