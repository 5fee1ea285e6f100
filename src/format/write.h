#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/sink.h"
#include "tree/session.h"

namespace tutti {

// Several documents from one input (YAML's `---`, JSON lines, several data files) are a list with this tag; writers
// that can hold several documents in one file write them one after the other.
Symbol documents_tag();
Value documents_of(const TreeBuilder& builder, std::span<const Value> documents, Origin origin);
// The documents of such a list, or the value itself as the only one.
std::span<const Value> documents(const Value& value);

struct WriteOptions {
  bool concrete = false;  // what is not data is an error instead of being shown in its encoded form
  bool reveal = false;    // secrets in clear instead of "(secret)"
  bool compact = false;   // as few bytes as the format allows
};

std::span<const std::string_view> output_names();  // json, leaves, ...

// Writes the tree in one of the common formats. False when something was wrong, which is then in the diagnostics and
// nothing has been written.
bool write_tree(Session& session, const Value& value, std::string_view output, const WriteOptions& options, Sink& sink);

// The tree as data: hidden fields and definitions gone, secrets hidden. With `concrete`, every value that is not data
// is reported by its path and nullopt returned.
std::optional<Value> as_data(Session& session, const Value& value, const WriteOptions& options);

// One JSON object a line for each leaf: {"path":[...],"kind":...,"value":...,"origin":"file:line:col"}.
void write_leaves(const Value& value, const Session& session, Sink& sink);

}  // namespace tutti
