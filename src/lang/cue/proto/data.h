#pragma once

#include <vector>

#include "lang/cue/eval/vertex.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

class Context;

// A text message (.textproto) as fields; one that comes several times is there several times until a schema says that
// it is a list.
Decoded decode_textproto(const Source& source, Arena& arena);

// Data that was written by the rules of protocol buffers, turned into what the schema asks for: numbers and bytes from
// strings (JSON), lists from fields that come several times (text). Changes the tree in place.
void apply_protobuf_schema(Context& c, Arena& arena, ast::File* data, Vertex* schema, bool text_format,
                           std::vector<SyntaxError>& errors);

}  // namespace tutti::cue
