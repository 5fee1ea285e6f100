#pragma once

#include <optional>
#include <string_view>

#include "base/sink.h"
#include "tree/session.h"

namespace tutti {

// All documents of a YAML stream; one document is returned as itself, several as documents (format/write.h). Positions
// on every value; an alias shares what its anchor names and remembers both places; `<<` merges; a repeated key is
// refused, and so are aliases that would multiply the document beyond measure. Tags that are not YAML's own stay on the
// value (tag()). The empty stream is null.
std::optional<Value> read_yaml(Session& session, const Source& source);

// Meaning of a plain scalar in YAML 1.2's core schema, nullopt for a string. The text must outlive the value or be
// copied by `builder`.
std::optional<Value> yaml_plain(std::string_view text, const TreeBuilder& builder, Origin origin);

// Block style, quotes only where needed (for readers of 1.1 too), `|` for text of several lines.
void write_yaml(const Value& value, Sink& sink);

}  // namespace tutti
