#pragma once

#include <optional>
#include <string>

#include "tree/session.h"

namespace tutti {

// The texts of data files laid out in one style, comments kept. Whatever is not understood stays as it is: the result
// is read back, and where it would not mean the same the text is returned unchanged. nullopt for text that cannot be
// read.
std::optional<std::string> layout_json(Session& session, const Source& source);
std::optional<std::string> layout_yaml(Session& session, const Source& source);
std::optional<std::string> layout_toml(Session& session, const Source& source);

}  // namespace tutti
