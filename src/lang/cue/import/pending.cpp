#include "lang/cue/import/decode_file.h"

namespace tutti::cue {

namespace {
Decoded unsupported(const char* what) {
  Decoded d;
  d.errors.push_back({{}, std::string(what) + " cannot be read yet"});
  return d;
}
}  // namespace

Decoded decode_xml(const Source&, Arena&) { return unsupported("XML"); }
Decoded decode_json_schema(ast::Node*, const Source&, Arena&, bool) { return unsupported("JSON Schema"); }
Decoded decode_openapi(ast::Node*, const Source&, Arena&) { return unsupported("OpenAPI"); }
Decoded decode_protobuf(const Source&, Arena&) { return unsupported("protobuf"); }
std::string detect_schema(ast::Node*) { return {}; }

}  // namespace tutti::cue
