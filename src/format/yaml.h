#pragma once

#include <optional>
#include <string_view>

#include "base/sink.h"
#include "tree/session.h"

namespace tutti {

// What a plain scalar means. YAML 1.2's core schema is ours; the others are for languages that come with their own.
enum class YamlSchema : u8 {
  kCore,   // 1.2: true/false, 0o17, 0x1F
  kPsych,  // Ruby's reading of 1.1: yes/no/on/off are booleans, 017 is octal, 1_000 a number, :name a symbol (kept as
           // text)
};

// All documents of a YAML stream; one document is returned as itself, several as documents (format/write.h). Positions
// on every value; an alias shares what its anchor names and remembers both places; `<<` merges; a repeated key is
// refused, and so are aliases that would multiply the document beyond measure. Tags that are not YAML's own stay on the
// value (tag()). The empty stream is null.
std::optional<Value> read_yaml(Session& session, const Source& source, YamlSchema schema = YamlSchema::kCore);

// Meaning of a plain scalar, nullopt for a string. The text must outlive the value or be copied by `builder`.
std::optional<Value> yaml_plain(std::string_view text, YamlSchema schema, const TreeBuilder& builder, Origin origin);

// Block style, quotes only where needed (for readers of 1.1 too), `|` for text of several lines.
void write_yaml(const Value& value, Sink& sink);

}  // namespace tutti
