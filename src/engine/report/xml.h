#pragma once

#include <string>
#include <string_view>

namespace tutti::engine {

// A text as it may stand in an element or an attribute of XML.
std::string xml_escaped(std::string_view text);

}  // namespace tutti::engine
