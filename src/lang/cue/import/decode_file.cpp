#include "lang/cue/import/decode_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/utf8.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/proto/data.h"
#include "lang/cue/syntax/parser.h"

namespace tutti::cue {

namespace {

std::string encoding_of(const std::string& ext) {
  if (ext == ".cue") return "cue";
  if (ext == ".json") return "json";
  if (ext == ".jsonl" || ext == ".ldjson" || ext == ".ndjson") return "jsonl";
  if (ext == ".yaml" || ext == ".yml") return "yaml";
  if (ext == ".toml") return "toml";
  if (ext == ".xml") return "xml";
  if (ext == ".proto") return "proto";
  if (ext == ".textproto" || ext == ".textpb") return "textproto";
  if (ext == ".txt") return "text";
  if (ext == ".go") return "go";
  if (ext == ".wasm") return "binary";
  return {};
}

}  // namespace

std::optional<DataFile> data_file(const std::string& path, const std::string& type, std::string& error) {
  DataFile d;
  d.path = path;
  std::string rest = type;
  bool explicit_type = !type.empty();
  while (!rest.empty()) {
    std::size_t plus = std::min(rest.find('+'), rest.size());
    std::string tag = rest.substr(0, plus), value;
    rest = plus < rest.size() ? rest.substr(plus + 1) : "";
    bool valued = false;
    if (std::size_t eq = tag.find('='); eq != std::string::npos) {
      value = tag.substr(eq + 1);
      tag = tag.substr(0, eq);
      valued = true;
    }
    if (tag == "cue" || tag == "json" || tag == "jsonl" || tag == "yaml" || tag == "toml" || tag == "xml" ||
        tag == "text" || tag == "binary" || tag == "proto" || tag == "textproto" || tag == "go") {
      d.encoding = tag;
    } else if (tag == "code") {
      d.encoding = "go";
    } else if (tag == "jsonschema" || tag == "openapi" || tag == "pb" || tag == "auto") {
      d.interpretation = tag;
    } else if (tag == "schema" || tag == "data" || tag == "graph" || tag == "dag" || tag == "final") {
      d.form = tag;
    } else if (tag == "koala" || tag == "strict" || tag == "strictKeywords" || tag == "strictFeatures" ||
               tag == "openOnlyWhenExplicit" || tag == "lang") {
      d.tags[tag] = valued ? value : "true";
    } else {
      error = fmt::format("unknown filetype {}", tag);
      return std::nullopt;
    }
  }
  if (d.encoding.empty()) {
    std::string ext = std::filesystem::path(path).extension().string();
    d.encoding = path == "-" ? (d.interpretation.empty() ? "cue" : "json") : encoding_of(ext);
    if (d.encoding.empty()) {
      if (d.interpretation == "jsonschema" || d.interpretation == "openapi" || d.interpretation == "pb")
        d.encoding = "json";
      else {
        error = ext.empty() ? fmt::format("no encoding specified for file {}", quote(path))
                            : fmt::format("unknown file extension {}", ext);
        return std::nullopt;
      }
    }
  }
  if (!explicit_type && d.interpretation.empty() && (d.encoding == "json" || d.encoding == "yaml"))
    d.interpretation = "auto";
  return d;
}

Decoded decode_file(const DataFile& file, const Source& source, Arena& arena, std::string* interpreted,
                    Sources* others) {
  Decoded d;
  if (interpreted) interpreted->clear();
  TokenPos start{source.pos(0), Rel::kNone, false};
  if (file.encoding == "json")
    d = decode_json(source, arena);
  else if (file.encoding == "jsonl")
    d = decode_json_stream(source, arena);
  else if (file.encoding == "yaml")
    d = decode_yaml(source, arena);
  else if (file.encoding == "toml")
    d = decode_toml(source, arena);
  else if (file.encoding == "xml") {
    if (!file.tags.count("koala")) {
      d.errors.push_back({{}, "xml requires a variant, such as: xml+koala"});
      return d;
    }
    d = decode_xml(source, arena);
  } else if (file.encoding == "textproto")
    d = decode_textproto(source, arena);
  else if (file.encoding == "cue") {
    ParsedFile parsed = parse_file(source, arena);
    d.errors = parsed.errors;
    d.documents.push_back(arena.make<ast::Struct>(TokenPos{}, parsed.file->decls, TokenPos{}));
  } else if (file.encoding == "text") {
    if (std::size_t bad = utf8::first_invalid(source.text); bad != std::string_view::npos)
      d.errors.push_back({source.pos(bad), "invalid UTF-8"});
    else
      d.documents.push_back(make_string(arena, source.text, start));
  } else if (file.encoding == "binary")
    d.documents.push_back(make_bytes(arena, source.text, start));
  else if (file.encoding == "proto")
    return decode_protobuf(file, source, arena, others);
  else
    d.errors.push_back({{}, fmt::format("unsupported encoding {}", quote(file.encoding))});
  if (!d.ok() || file.interpretation.empty() || file.interpretation == "pb") return d;
  Decoded out;
  for (ast::Node* n : d.documents) {
    std::string kind = file.interpretation == "auto" ? detect_schema(n) : file.interpretation;
    if (kind.empty()) {
      out.documents.push_back(n);
      continue;
    }
    if (interpreted) *interpreted = kind;
    Decoded s = kind == "openapi" ? decode_openapi(n, source, arena, file.tags, others, file.package)
                                  : decode_json_schema(n, source, arena, file.tags, others);
    out.documents.insert(out.documents.end(), s.documents.begin(), s.documents.end());
    out.errors.insert(out.errors.end(), s.errors.begin(), s.errors.end());
    if (!out.ok()) break;
  }
  return out;
}

}  // namespace tutti::cue
