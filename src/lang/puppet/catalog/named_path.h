#pragma once

#include <optional>
#include <string_view>

#include "lang/common/language.h"

namespace tutti::puppet {

// Where something is in the tree of a catalog that is named as people speak of it: `apache::port` or
// `Class[apache]/port`, `File[/etc/motd]/mode`, `Service[nginx]`, `apache`.
// nullopt: the tree is no catalog, or the text is no such name.
std::optional<Language::NamedPath> named_path(const Value& catalog, std::string_view text);

}  // namespace tutti::puppet
