#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/cue/import/decode.h"
#include "lang/cue/schema/build.h"
#include "lang/cue/schema/data.h"
#include "text/source.h"

// JSON Schema (drafts 4, 6, 7, 2019-09, 2020-12) and the schema objects of OpenAPI 3.0 and 3.1 read as CUE.
//
// A keyword of JSON Schema says something about values of one type only: `minLength` lets every number pass. So each
// schema becomes a disjunction over the types it allows, each with what was said about it, unified with what was said
// about all values (enum, $ref, anyOf, ...). A schema named by a $ref becomes a definition.
namespace tutti::cue {

enum class Draft : u8 { k4, k6, k7, k2019, k2020, kOpenApi30, kOpenApi31 };

struct SchemaOptions {
  bool strict_keywords = false;          // a keyword that no draft has is an error
  bool strict_features = false;          // so is a keyword whose meaning cannot be expressed
  bool open_only_when_explicit = false;  // `...` only where additionalProperties is true
  Sources* others = nullptr;             // where files that a $ref names are opened; nullptr: not at all
};

// A document and where its schemas are: by their absolute URI, and by their JSON Pointer.
struct SchemaDocument {
  std::string base;   // URI of the whole
  std::string label;  // before the pointer in names of definitions; empty for the first document
  std::string path;   // of the file
  ast::Node* root = nullptr;
};

struct SchemaPlace {
  ast::Node* node = nullptr;
  const SchemaDocument* document = nullptr;
  std::string pointer;
};

// What can be named by a $ref.
class SchemaIndex {
 public:
  SchemaIndex(Arena& arena, Sources* others) : arena_(arena), others_(others) {}
  const SchemaDocument* add(ast::Node* root, const std::string& path, const std::string& label);
  // nullopt when there is no such place. `base` is the URI at the place where the reference stands.
  std::optional<SchemaPlace> find(const std::string& ref, const std::string& base, const SchemaDocument* from);
  std::string base_of(ast::Node* schema, const std::string& outer) const;
  SchemaPlace place(ast::Node* node) const;

  enum class Holds : u8 { kSchemas, kNamedSchemas, kData, kAnything };

 private:
  void walk(ast::Node* n, const std::string& base, const std::string& pointer, const SchemaDocument* d, Holds holds,
            int depth);
  std::optional<SchemaPlace> inside(const SchemaPlace& at, std::string_view pointer) const;

  Arena& arena_;
  Sources* others_;
  std::vector<std::unique_ptr<SchemaDocument>> documents_;
  std::map<std::string, SchemaPlace> by_uri_;
  std::map<const ast::Node*, SchemaPlace> by_node_;
  std::map<std::pair<const SchemaDocument*, std::string>, ast::Node*> by_pointer_;  // of objects
  std::map<std::string, const SchemaDocument*> by_file_;
};

std::string resolve_uri(const std::string& base, const std::string& ref);
std::string escape_uri(const std::string& uri);

class SchemaReader {
 public:
  SchemaReader(Arena& arena, const Source& source, const SchemaOptions& options);

  // A whole file of CUE.
  ast::File* json_schema(ast::Node* document);
  ast::File* openapi(ast::Node* document, const std::string& package);
  std::vector<SyntaxError>& errors() { return errors_; }

 private:
  enum Type : unsigned { kNull = 1, kBool = 2, kNumber = 4, kString = 8, kArray = 16, kObject = 32, kAll = 63 };

  // What the keywords of one schema have said so far.
  struct State {
    ast::Node* node = nullptr;
    std::string base;
    unsigned types = kAll;
    unsigned only = kAll;  // types that enum and const leave
    bool typed = false;    // by a keyword of its own
    bool integer = false;
    Pos type_pos;
    std::vector<ast::Node*> everything, number, string, array, object;
    bool exclusive_min = false, exclusive_max = false;  // draft 4: a mark on minimum and maximum
    std::vector<ast::Node*> prefix;
    ast::Node* rest = nullptr;
    bool list_closed = false;
    long long min_items = 0;
    std::vector<DataEntry> properties;
    std::vector<std::string> required;
    std::vector<ast::Node*> patterns;
    std::vector<std::string> pattern_texts;
    ast::Node* additional = nullptr;  // of additionalProperties
    bool closed = false, explicit_open = false;
    std::string title, description;
    bool deprecated = false;
    int depth = 0;
  };
  struct Result {
    ast::Node* x = nullptr;
    unsigned types = kAll;  // that it can have
    std::string doc;
    bool deprecated = false;
  };
  using Handler = void (SchemaReader::*)(State&, const DataEntry&);
  struct Keyword {
    int pass;
    Draft from, to;
    Handler handler;  // nullptr: says nothing about values
    bool todo = false;
  };
  static const std::map<std::string_view, Keyword>& keywords();

  Result schema(ast::Node* n, unsigned types, const std::string& base, int depth);
  ast::Node* expression(State& s);
  ast::Node* object_expression(State& s);
  ast::Node* list_expression(State& s);
  ast::Node* arm(State& s, ast::Node* n, unsigned types) { return schema(n, types, s.base, s.depth + 1).x; }
  void set_draft(ast::Node* document);
  void unknown(const DataEntry& e);
  void fail(Pos pos, std::string message);
  void feature(Pos pos, std::string message);  // an error only where features are strict
  ast::Node* reference(const SchemaPlace& at, Pos pos);
  void emit_definitions(std::vector<ast::Node*>& decls);
  ast::Field* documented(ast::Field* f, const Result& r);
  static std::string doc_of(const std::string& title, const std::string& description);
  std::optional<long long> size(const DataEntry& e);
  std::string string(const DataEntry& e);
  bool since(Draft d) const { return draft_ >= d; }
  bool is_openapi() const { return draft_ == Draft::kOpenApi30 || draft_ == Draft::kOpenApi31; }
  ast::Node* regex(const DataEntry& e, const std::string& pattern, Tok op);

  // ---- the keywords
  void type(State&, const DataEntry&);
  void nullable(State&, const DataEntry&);
  void title(State& s, const DataEntry& e) { s.title = string(e); }
  void description(State& s, const DataEntry& e) { s.description = string(e); }
  void deprecated(State& s, const DataEntry& e) { s.deprecated = data_bool(e.value).value_or(false); }
  void enumeration(State&, const DataEntry&);
  void constant(State&, const DataEntry&);
  void ref(State&, const DataEntry&);
  void all_of(State&, const DataEntry&);
  void any_of(State&, const DataEntry&);
  void one_of(State&, const DataEntry&);
  void negation(State&, const DataEntry&);
  void conditional(State&, const DataEntry&);
  void exclusive(State&, const DataEntry&);
  void bound(State&, const DataEntry&);
  void multiple_of(State&, const DataEntry&);
  void length(State&, const DataEntry&);
  void pattern(State&, const DataEntry&);
  void format(State&, const DataEntry&);
  void items(State&, const DataEntry&);
  void prefix_items(State&, const DataEntry&);
  void additional_items(State&, const DataEntry&);
  void contains(State&, const DataEntry&);
  void item_count(State&, const DataEntry&);
  void unique_items(State&, const DataEntry&);
  void properties(State&, const DataEntry&);
  void required(State&, const DataEntry&);
  void pattern_properties(State&, const DataEntry&);
  void additional_properties(State&, const DataEntry&);
  void property_names(State&, const DataEntry&);
  void property_count(State&, const DataEntry&);
  void dependencies(State&, const DataEntry&);
  void alternatives(State&, const DataEntry&, bool exactly_one);

  Build b_;
  const Source& source_;
  SchemaOptions options_;
  SchemaIndex index_;
  Draft draft_ = Draft::k2020;
  std::string definitions_at_;  // pointer under which definitions are named #X: "/$defs/", "/components/schemas/"
  std::vector<SyntaxError> errors_;
  const SchemaDocument* document_ = nullptr;  // that is being read
  bool root_used_ = false;
  std::map<std::string, std::string> wanted_;  // labels under _#defs -> done or not
  std::vector<std::pair<std::string, SchemaPlace>> work_;
};

}  // namespace tutti::cue
