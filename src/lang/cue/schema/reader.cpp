// One schema: its keywords in turn, and the expression they come to.
#include "lang/cue/schema/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lang/cue/format/literal.h"

namespace tutti::cue {

using ast::as;

namespace {

constexpr int kMaxDepth = 5'000;

std::string drop_hash(std::string s) {
  if (!s.empty() && s.back() == '#') s.pop_back();
  return s;
}

struct DraftName {
  std::string_view url;
  Draft draft;
};
constexpr DraftName kDrafts[] = {
    {"http://json-schema.org/draft-04/schema#", Draft::k4},
    {"http://json-schema.org/draft-06/schema#", Draft::k6},
    {"http://json-schema.org/draft-07/schema#", Draft::k7},
    {"https://json-schema.org/draft/2019-09/schema", Draft::k2019},
    {"https://json-schema.org/draft/2020-12/schema", Draft::k2020},
};

const DraftName* draft_named(const std::string& url) {
  for (const DraftName& d : kDrafts) {
    std::string a = drop_hash(url), b = drop_hash(std::string(d.url));
    if (a == b || (a.starts_with("https://") && "http://" + a.substr(8) == b) ||
        (a.starts_with("http://") && "https://" + a.substr(7) == b))
      return &d;
  }
  return nullptr;
}

}  // namespace

SchemaReader::SchemaReader(Arena& arena, const Source& source, const SchemaOptions& options)
    : b_(arena), source_(source), options_(options), index_(arena, options.others) {
  b_.brace = source.pos(0);
}

void SchemaReader::fail(Pos pos, std::string message) { errors_.push_back({pos, std::move(message)}); }
void SchemaReader::feature(Pos pos, std::string message) {
  if (options_.strict_features) fail(pos, std::move(message));
}

const std::map<std::string_view, SchemaReader::Keyword>& SchemaReader::keywords() {
  using R = SchemaReader;
  constexpr Draft k4 = Draft::k4, k6 = Draft::k6, k7 = Draft::k7, k19 = Draft::k2019, k20 = Draft::k2020,
                  o30 = Draft::kOpenApi30, o31 = Draft::kOpenApi31;
  static const std::map<std::string_view, Keyword> kAll = {
      {"$anchor", {0, k19, o31, nullptr}},
      {"$comment", {0, k7, o31, nullptr}},
      {"$defs", {0, k19, o31, nullptr}},
      {"$dynamicAnchor", {0, k20, o31, nullptr, true}},
      {"$dynamicRef", {0, k20, o31, nullptr, true}},
      {"$id", {0, k6, o31, nullptr}},
      {"$recursiveAnchor", {0, k19, k19, nullptr, true}},
      {"$recursiveRef", {0, k19, k19, nullptr, true}},
      {"$ref", {1, k4, o31, &R::ref}},
      {"$schema", {0, k4, o31, nullptr}},
      {"$vocabulary", {0, k19, o31, nullptr}},
      {"additionalItems", {3, k4, k19, &R::additional_items}},
      {"additionalProperties", {3, k4, o31, &R::additional_properties}},
      {"allOf", {2, k4, o31, &R::all_of}},
      {"anyOf", {2, k4, o31, &R::any_of}},
      {"const", {1, k6, o31, &R::constant}},
      {"contains", {2, k6, o31, &R::contains}},
      {"contentEncoding", {0, k7, o31, nullptr}},
      {"contentMediaType", {0, k7, o31, nullptr}},
      {"contentSchema", {0, k19, o31, nullptr}},
      {"default", {0, k4, o31, nullptr}},
      {"definitions", {0, k4, k20, nullptr}},
      {"dependencies", {2, k4, k20, &R::dependencies}},
      {"dependentRequired", {2, k19, o31, &R::dependencies}},
      {"dependentSchemas", {2, k19, o31, &R::dependencies}},
      {"deprecated", {1, k19, o31, &R::deprecated}},
      {"description", {1, k4, o31, &R::description}},
      {"discriminator", {0, o30, o31, nullptr, true}},
      {"else", {0, k7, o31, nullptr}},
      {"enum", {1, k4, o31, &R::enumeration}},
      {"example", {0, o30, o31, nullptr}},
      {"examples", {0, k6, o31, nullptr}},
      {"exclusiveMaximum", {1, k4, o31, &R::exclusive}},
      {"exclusiveMinimum", {1, k4, o31, &R::exclusive}},
      {"externalDocs", {0, o30, o31, nullptr, true}},
      {"format", {2, k4, o31, &R::format}},
      {"id", {0, k4, k4, nullptr}},
      {"if", {2, k7, o31, &R::conditional}},
      {"items", {2, k4, o31, &R::items}},
      {"maxContains", {0, k19, o31, nullptr}},
      {"maxItems", {1, k4, o31, &R::item_count}},
      {"maxLength", {1, k4, o31, &R::length}},
      {"maxProperties", {2, k4, o31, &R::property_count}},
      {"maximum", {2, k4, o31, &R::bound}},
      {"minContains", {0, k19, o31, nullptr}},
      {"minItems", {1, k4, o31, &R::item_count}},
      {"minLength", {1, k4, o31, &R::length}},
      {"minProperties", {2, k4, o31, &R::property_count}},
      {"minimum", {2, k4, o31, &R::bound}},
      {"multipleOf", {2, k4, o31, &R::multiple_of}},
      {"not", {2, k4, o31, &R::negation}},
      {"nullable", {1, o30, o30, &R::nullable}},
      {"oneOf", {2, k4, o31, &R::one_of}},
      {"pattern", {1, k4, o31, &R::pattern}},
      {"patternProperties", {2, k4, o31, &R::pattern_properties}},
      {"prefixItems", {1, k20, o31, &R::prefix_items}},
      {"properties", {1, k4, o31, &R::properties}},
      {"propertyNames", {2, k6, o31, &R::property_names}},
      {"readOnly", {0, k7, o31, nullptr}},
      {"required", {1, k4, o31, &R::required}},
      {"then", {0, k7, o31, nullptr}},
      {"title", {1, k4, o31, &R::title}},
      {"type", {0, k4, o31, &R::type}},
      {"unevaluatedItems", {0, k19, o31, nullptr, true}},
      {"unevaluatedProperties", {0, k19, o31, nullptr, true}},
      {"uniqueItems", {2, k4, o31, &R::unique_items}},
      {"writeOnly", {0, k7, o31, nullptr}},
      {"xml", {0, o30, o31, nullptr, true}},
  };
  return kAll;
}

void SchemaReader::unknown(const DataEntry& e) {
  if (e.key.starts_with("x-") && is_openapi()) return;
  // OpenAPI 3.0 says which keywords there are; JSON Schema lets everybody add some.
  if (options_.strict_keywords || draft_ == Draft::kOpenApi30)
    fail(e.pos, fmt::format("unknown keyword {}", quote(e.key)));
}

std::string SchemaReader::doc_of(const std::string& title, const std::string& description) {
  if (title.empty() || description.empty()) return title + description;
  return title + "\n\n" + description;
}

SchemaReader::Result SchemaReader::schema(ast::Node* n, unsigned types, const std::string& base, int depth) {
  if (std::optional<bool> all = data_bool(n)) {
    if (*all) return {b_.top(ast::first(n).pos), kAll, "", false};
    return {b_.call("error", {b_.text("disallowed")}, ast::first(n).pos), 0, "", false};
  }
  if (depth > kMaxDepth) {
    fail(ast::first(n).pos, "schemas nested too deeply");
    return {b_.top()};
  }
  if (!data_is_object(n)) {
    fail(ast::first(n).pos, "invalid schema: a schema is an object or a boolean");
    return {b_.top()};
  }
  State s;
  s.node = n;
  s.types = types;
  s.depth = depth;
  s.base = index_.base_of(n, base);
  std::vector<DataEntry> entries = data_entries(n);
  bool ref_only = !since(Draft::k2019) && data_text(data_get(n, "$ref"));
  if (draft_ == Draft::kOpenApi30 && data_text(data_get(n, "$ref"))) ref_only = true;
  for (int pass = 0; pass <= 3; ++pass)
    for (const DataEntry& e : entries) {
      auto it = keywords().find(e.key);
      bool known = it != keywords().end() && draft_ >= it->second.from &&
                   (draft_ <= it->second.to || (draft_ == Draft::kOpenApi30 && it->second.to >= Draft::k4));
      if (it != keywords().end() && draft_ == Draft::kOpenApi30) {
        // 3.0 has the keywords of draft 5 and its own.
        known = it->second.from == Draft::k4 || it->second.from == Draft::kOpenApi30 || e.key == "deprecated" ||
                e.key == "readOnly" || e.key == "writeOnly";
        if (e.key == "patternProperties" || e.key == "dependencies" || e.key == "additionalItems") known = false;
      }
      if (!known) {
        if (pass == 0) unknown(e);
        continue;
      }
      if (it->second.pass != pass) continue;
      if (ref_only && e.key != "$ref" && e.key != "title" && e.key != "description") continue;
      if (it->second.todo)
        feature(e.pos, fmt::format("keyword {} not yet implemented", quote(e.key)));
      else if (it->second.handler)
        (this->*it->second.handler)(s, e);
    }
  Result r;
  r.x = expression(s);
  r.types = s.types & s.only;
  r.doc = doc_of(s.title, s.description);
  r.deprecated = s.deprecated;
  return r;
}

ast::Node* SchemaReader::expression(State& s) {
  // What is true of each type; nothing is said of a type without an entry.
  std::vector<ast::Node*> arms;
  bool said = s.typed;
  auto typed = [&](std::vector<ast::Node*> list, std::string_view base, bool keep_base) {
    if (!list.empty()) said = true;
    if (list.empty() || keep_base) list.insert(list.begin(), b_.name(base, s.type_pos));
    arms.push_back(b_.all_of(list));
  };
  if (s.types & kNull) arms.push_back(make_lit(b_.arena, Tok::kNull, "null", TokenPos{s.type_pos}));
  if (s.types & kBool) arms.push_back(b_.name("bool", s.type_pos));
  if (s.types & kNumber) {
    said = said || s.integer;
    typed(s.number, s.integer ? "int" : "number", s.integer);
  }
  if (s.types & kString) typed(s.string, "string", false);
  if (s.types & kArray) {
    ast::Node* list = list_expression(s);
    if (list || !s.array.empty()) said = true;
    if (list) s.array.push_back(list);
    if (s.array.empty()) s.array.push_back(b_.list({}, nullptr, true));
    arms.push_back(b_.all_of(s.array));
  }
  if (s.types & kObject) {
    ast::Node* object = object_expression(s);
    if (object || !s.object.empty()) said = true;
    if (object) s.object.push_back(object);
    if (s.object.empty()) s.object.push_back(b_.structure({}, !options_.open_only_when_explicit));
    arms.push_back(b_.all_of(s.object));
  }
  std::vector<ast::Node*> parts = s.everything;
  bool needed = said;
  // What enum and const leave may make the types superfluous.
  if (!s.everything.empty() && s.only != kAll && (s.only & ~s.types) == 0 && s.number.empty() && s.string.empty() &&
      s.array.empty() && s.object.empty() && !s.integer)
    needed = false;
  if (!s.everything.empty() && s.only != kAll && s.integer && s.types == kNumber && s.only == kNumber) needed = true;
  if (needed || parts.empty()) {
    if (!said)
      parts.push_back(b_.top());
    else
      parts.push_back(b_.any_of(arms));
  }
  return b_.all_of(parts);
}

ast::Node* SchemaReader::reference(const SchemaPlace& at, Pos pos) {
  auto select = [&](ast::Node* x, const std::string& name) -> ast::Node* {
    return b_.arena.make<ast::Selector>(x, TokenPos{}, b_.text(name));
  };
  if (at.document->label.empty()) {
    if (at.pointer.empty() && !is_openapi()) {
      root_used_ = true;
      return b_.name("_schema", pos);
    }
    for (std::string_view prefix : {"/definitions/", "/$defs/", "/components/schemas/"}) {
      if (!at.pointer.starts_with(prefix) || is_openapi() != (prefix[1] == 'c')) continue;
      std::string name = at.pointer.substr(prefix.size());
      if (name.empty() || name.find_first_of("/~") != std::string::npos) break;
      if (is_identifier("#" + name)) return b_.name("#" + name, pos);
      return select(b_.name("#", pos), name);
    }
  }
  std::string label = at.document->label.empty() ? at.pointer : at.document->label + "#" + at.pointer;
  if (wanted_.emplace(label, "").second) work_.emplace_back(label, at);
  return select(b_.name("_#defs", pos), label);
}

ast::Field* SchemaReader::documented(ast::Field* f, const Result& r) {
  if (!r.doc.empty()) b_.comment(f, r.doc, Rel::kNewSection);
  if (r.deprecated)
    f->attrs = make_nodes(b_.arena, {b_.arena.make<ast::Attribute>(TokenPos{{}, Rel::kBlank}, "@deprecated()")});
  return f;
}

void SchemaReader::emit_definitions(std::vector<ast::Node*>& decls) {
  for (std::string_view at : {"definitions", "$defs"}) {
    std::vector<DataEntry> list;
    if (at == "definitions" && is_openapi()) {
      ast::Node* components = data_get(document_->root, "components");
      list = data_entries(components ? data_get(components, "schemas") : nullptr);
    } else if (!is_openapi()) {
      list = data_entries(data_get(document_->root, at));
    }
    std::sort(list.begin(), list.end(), [](const DataEntry& x, const DataEntry& y) { return x.key < y.key; });
    for (const DataEntry& e : list) {
      Result r = schema(e.value, kAll, document_->base, 1);
      bool plain = is_identifier("#" + e.key);
      TokenPos place{{}, Rel::kNewSection};
      ast::Field* f = nullptr;
      if (plain) {
        f = b_.field(make_ident(b_.arena, "#" + e.key, TokenPos{e.pos, Rel::kNewSection}), r.x);
        documented(f, r);
      } else {
        ast::Field* inner = documented(b_.field(b_.text(e.key), r.x), r);
        f = b_.field(make_ident(b_.arena, "#", place), make_struct(b_.arena, {inner}));
      }
      decls.push_back(f);
    }
  }
  for (std::size_t i = 0; i < work_.size(); ++i) {
    auto [label, at] = work_[i];
    const SchemaDocument* outer = document_;
    document_ = at.document;
    std::string base = at.document->base;
    Result r = schema(at.node, kAll, base, 1);
    document_ = outer;
    ast::Field* inner = documented(b_.field(b_.text(label), r.x), r);
    decls.push_back(
        b_.field(make_ident(b_.arena, "_#defs", TokenPos{{}, Rel::kNewSection}), make_struct(b_.arena, {inner})));
  }
}

void SchemaReader::set_draft(ast::Node* document) {
  if (std::optional<std::string> url = data_text(data_get(document, "$schema")))
    if (const DraftName* d = draft_named(*url)) draft_ = d->draft;
}

ast::File* SchemaReader::json_schema(ast::Node* document) {
  set_draft(document);
  document_ = index_.add(document, source_.path.empty() ? source_.name : source_.path, "");
  Result r = schema(document, kAll, "", 0);
  std::vector<ast::Node*> body, decls;
  if (std::optional<std::string> url = data_text(data_get(document, "$schema"))) {
    const DraftName* d = draft_named(*url);
    body.push_back(b_.attribute(fmt::format("@jsonschema(schema={})", quote(d ? d->url : *url))));
  }
  std::optional<std::string> id = data_text(data_get(document, since(Draft::k6) ? "$id" : "id"));
  if (id) body.push_back(b_.attribute(fmt::format("@jsonschema(id={})", quote(escape_uri(*id)))));
  std::vector<ast::Node*> definitions;
  emit_definitions(definitions);
  std::vector<ast::Node*> last;
  if (root_used_) {
    body.push_back(b_.embed(b_.name("_schema")));
    definitions.insert(definitions.begin(),
                       b_.field(make_ident(b_.arena, "_schema", TokenPos{{}, Rel::kNewSection}), r.x));
  } else if (r.x->kind == ast::Kind::kStruct) {
    for (ast::Node* d : as<ast::Struct>(r.x)->elts) (d->kind == ast::Kind::kEllipsis ? last : body).push_back(d);
  } else {
    body.push_back(b_.embed(r.x));
  }
  body.insert(body.end(), definitions.begin(), definitions.end());
  body.insert(body.end(), last.begin(), last.end());
  if (ast::Node* imports = b_.import_decl(body)) decls.push_back(imports);
  decls.insert(decls.end(), body.begin(), body.end());
  auto* file = b_.arena.make<ast::File>();
  if (!r.doc.empty()) b_.comment(file, r.doc, Rel::kNewline);
  file->decls = make_nodes(b_.arena, decls);
  return file;
}

}  // namespace tutti::cue
