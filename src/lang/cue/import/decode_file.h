#pragma once

#include <optional>
#include <string>

#include "lang/cue/import/decode.h"
#include "lang/cue/load/packages.h"

namespace tutti::cue {

// A file name with an explicit type ("json+pb", "yaml", "jsonschema"; may be empty: the extension decides).
std::optional<DataFile> data_file(const std::string& path, const std::string& type, std::string& error);

// The documents of a data file as CUE expressions. With the interpretation "auto" JSON and YAML that are JSON Schema or
// OpenAPI are taken as such; `interpreted` says whether they were.
// Other files that a schema refers to are opened through `others`, where it is given.
Decoded decode_file(const DataFile& file, const Source& source, Arena& arena, std::string* interpreted = nullptr,
                    Sources* others = nullptr);

// Schemas read as CUE definitions.
// `tags` are those of the file's type: strict, strictKeywords, strictFeatures, openOnlyWhenExplicit.
Decoded decode_json_schema(ast::Node* document, const Source& source, Arena& arena,
                           const std::map<std::string, std::string>& tags, Sources* others = nullptr);
Decoded decode_openapi(ast::Node* document, const Source& source, Arena& arena,
                       const std::map<std::string, std::string>& tags, Sources* others = nullptr,
                       const std::string& package = {});
Decoded decode_protobuf(const DataFile& file, const Source& source, Arena& arena, Sources* others);
// "jsonschema", "openapi" or "".
std::string detect_schema(ast::Node* document);

}  // namespace tutti::cue
