#include "lang/cue/export/schema.h"

namespace tutti::cue {

ast::Node* generate_openapi(Context&, const Sources&, Vertex*, std::string& error, std::vector<LoadProblem>&) {
  error = "unsupported interpretation \"openapi\"";
  return nullptr;
}

ast::Node* generate_json_schema(Context&, const Sources&, Vertex*, std::string& error, std::vector<LoadProblem>&) {
  error = "unsupported interpretation \"jsonschema\"";
  return nullptr;
}

}  // namespace tutti::cue
