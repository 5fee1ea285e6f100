#pragma once

#include <optional>

#include "base/sink.h"
#include "tree/session.h"

namespace tutti {

// Reads an XML document as data. An element is a map with its name as the only key of the root; attributes are keys
// that begin with `@`, text is `#text` (or the whole value where there is nothing else), elements of one name among
// their siblings are a list. A document written by write_xml (it says so with its namespace) gives back the tree it was
// written from. No document type, no entities beyond XML's own five, nothing fetched.
std::optional<Value> read_xml(Session& session, const Source& source);

// Writes any tree: an element for each key, `type` where it is not a string, `<item>` for list items.
bool write_xml(Session& session, const Value& value, Sink& sink);

constexpr std::string_view kXmlDataNamespace = "urn:tutti:data:1";

}  // namespace tutti
