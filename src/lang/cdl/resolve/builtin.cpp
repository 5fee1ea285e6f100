#include "lang/cdl/resolve/builtin.h"

namespace tutti::cdl {

std::optional<std::string_view> builtin_document(std::string_view location) {
  if (location == "tutti:component-model.cdl") return kComponentModel;
  return std::nullopt;
}

}  // namespace tutti::cdl
