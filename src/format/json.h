#pragma once

#include <optional>
#include <string_view>

#include "base/sink.h"
#include "tree/session.h"

namespace tutti {

// Reads one JSON text (RFC 8259): numbers kept exactly as written, order of keys kept, a repeated key refused, every
// value with its place. No recursion: depth is a limit, not a matter of stack. Strings without escapes stay in the
// source.
std::optional<Value> read_json(Session& session, const Source& source);
// The same for data of which the last of several equal keys counts, as most readers of JSON have it.
std::optional<Value> read_lax_json(Session& session, const Source& source);

// Several JSON texts one after the other (JSON lines among them), as a list tagged as documents (format/write.h).
std::optional<Value> read_json_stream(Session& session, const Source& source);

struct JsonStyle {
  u32 indent = 2;            // 0: all on one line
  bool escape_html = false;  // <, > and & as \u003c ..., as Go's encoder does
};

// Values that are not data are written as objects with one key: {"$open":"int"}, {"$ref":"a:b"}, {"$lazy":"x"},
// {"$resource":{"type":"File","title":"/x"}}, {"$error":"..."}. Bytes are written in base64.
void write_json(const Value& value, const JsonStyle& style, Sink& sink);
void write_json_string(std::string_view text, bool escape_html, Sink& sink);

}  // namespace tutti
