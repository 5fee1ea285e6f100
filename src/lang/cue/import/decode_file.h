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
Decoded decode_file(const DataFile& file, const Source& source, Arena& arena, std::string* interpreted = nullptr);

// Schemas read as CUE definitions.
Decoded decode_json_schema(ast::Node* document, const Source& source, Arena& arena, bool strict);
Decoded decode_openapi(ast::Node* document, const Source& source, Arena& arena);
Decoded decode_protobuf(const Source& source, Arena& arena);
// "jsonschema", "openapi" or "".
std::string detect_schema(ast::Node* document);

}  // namespace tutti::cue
