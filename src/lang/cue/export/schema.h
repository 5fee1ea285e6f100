#pragma once

#include <string>
#include <vector>

#include "lang/cue/eval/vertex.h"
#include "lang/cue/load/packages.h"
#include "lang/cue/syntax/ast.h"

namespace tutti::cue {

class Context;

// Definitions as schemas of other languages, in the form of CUE data; nullptr with the reason.
ast::Node* generate_openapi(Context& c, const Sources& sources, Vertex* v, std::string& error,
                            std::vector<LoadProblem>& problems);
ast::Node* generate_json_schema(Context& c, const Sources& sources, Vertex* v, std::string& error,
                                std::vector<LoadProblem>& problems);

}  // namespace tutti::cue
