#pragma once

#include <optional>
#include <string_view>

#include "lang/puppet/types/value.h"

namespace tutti::puppet {

bool is_uri(std::string_view text);

// scheme, userinfo, host, port, path, query, fragment or opaque of a URI; undef where it has none. nullopt: no such
// part.
std::optional<Val> uri_part(Arena& arena, std::string_view uri, std::string_view name);

}  // namespace tutti::puppet
