// The schemas of an OpenAPI document as CUE; how documents are told to be schemas; what the readers of files call.
#include <fmt/format.h>

#include "lang/cue/import/decode_file.h"
#include "lang/cue/schema/reader.h"

namespace tutti::cue {

ast::File* SchemaReader::openapi(ast::Node* document, const std::string& package) {
  std::string version = data_text(data_get(document, "openapi")).value_or("");
  draft_ = version.starts_with("3.1") ? Draft::kOpenApi31 : Draft::kOpenApi30;
  document_ = index_.add(document, source_.path.empty() ? source_.name : source_.path, "");
  std::vector<ast::Node*> decls, body;
  ast::Node* info = data_get(document, "info");
  std::string title = data_text(data_get(info, "title")).value_or("");
  std::string description = data_text(data_get(info, "description")).value_or("");
  if (info) {
    std::vector<ast::Node*> fields;
    for (const char* key : {"title", "version"})
      if (std::optional<std::string> text = data_text(data_get(info, key)))
        fields.push_back(b_.field(b_.label(key), b_.any_of({b_.unary(Tok::kMul, b_.text(*text)), b_.name("string")})));
    body.push_back(
        b_.field(make_ident(b_.arena, "info", TokenPos{{}, Rel::kNewSection}), b_.structure(std::move(fields), false)));
  }
  emit_definitions(body);
  if (ast::Node* imports = b_.import_decl(body)) decls.push_back(imports);
  decls.insert(decls.end(), body.begin(), body.end());
  auto* file = b_.arena.make<ast::File>();
  // The title is the comment of the package; where there is none, it stands for itself above the first field.
  std::string doc = doc_of(title, description);
  if (!package.empty()) {
    auto* p = b_.arena.make<ast::Package>(TokenPos{{}, Rel::kNewline}, make_ident(b_.arena, package));
    b_.comment(p, doc);
    decls.insert(decls.begin(), p);
  } else if (!decls.empty()) {
    b_.comment(decls[0], doc);
    for (ast::CommentGroup& g : decls[0]->comments()) g.doc = false;
  }
  file->decls = make_nodes(b_.arena, decls);
  return file;
}

namespace {

SchemaOptions options_of(const std::map<std::string, std::string>& tags, Sources* others) {
  auto on = [&](const char* name) {
    auto it = tags.find(name);
    return it != tags.end() && it->second != "false" && it->second != "0";
  };
  SchemaOptions o;
  o.strict_keywords = on("strict") || on("strictKeywords");
  o.strict_features = on("strict") || on("strictFeatures");
  o.open_only_when_explicit = on("openOnlyWhenExplicit");
  o.others = others;
  return o;
}

}  // namespace

Decoded decode_json_schema(ast::Node* document, const Source& source, Arena& arena,
                           const std::map<std::string, std::string>& tags, Sources* others) {
  SchemaReader reader(arena, source, options_of(tags, others));
  Decoded d;
  ast::File* f = reader.json_schema(document);
  d.errors = reader.errors();
  if (d.ok()) d.documents.push_back(f);
  return d;
}

Decoded decode_openapi(ast::Node* document, const Source& source, Arena& arena,
                       const std::map<std::string, std::string>& tags, Sources* others, const std::string& package) {
  SchemaReader reader(arena, source, options_of(tags, others));
  Decoded d;
  ast::File* f = reader.openapi(document, package);
  d.errors = reader.errors();
  if (d.ok()) d.documents.push_back(f);
  return d;
}

std::string detect_schema(ast::Node* document) {
  if (!data_is_object(document)) return {};
  if (std::optional<std::string> url = data_text(data_get(document, "$schema"));
      url && url->find("//json-schema.org/") != std::string::npos && url->find("schema") != std::string::npos)
    return "jsonschema";
  std::optional<std::string> version = data_text(data_get(document, "openapi"));
  if (version && version->starts_with("3.") && data_get(document, "info")) return "openapi";
  return {};
}

}  // namespace tutti::cue
