#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tree/path.h"

namespace tutti::puppet {

// Where something is in the tree of a catalog that is named as people speak of it: `apache::port` or
// `Class[apache]/port`, `File[/etc/motd]/mode`, `Service[nginx]`, `apache`.
struct NamedPath {
  Path path;
  std::string wrong;  // what there is not; the path is empty then
  std::string near;   // what may have been meant; "": nothing is near
};
// nullopt: the tree is no catalog, or the text is no such name.
std::optional<NamedPath> named_path(const Value& catalog, std::string_view text);

}  // namespace tutti::puppet
