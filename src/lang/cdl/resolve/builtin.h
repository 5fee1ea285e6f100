#pragma once

#include <optional>
#include <string_view>

namespace tutti::cdl {

extern const std::string_view kComponentModel;  // schema/cdl/component-model.cdl, embedded by the build

// Documents that are part of the program, imported as `tutti:NAME`.
std::optional<std::string_view> builtin_document(std::string_view location);

}  // namespace tutti::cdl
