#pragma once

#include "lang/cdl/resolve/system.h"

namespace tutti::cdl {

struct TypeReport {
  bool fits = true;                     // no value is against its cdl:type
  std::vector<const Node*> missing;     // cdl:use="required" without a value
  std::vector<std::string> at_runtime;  // paths of what is lazy
};

// Checks the values of a system against cdl:type and cdl:use (7.4). The types of XML Schema are known; others are those
// of cdl:types in any document of the library and of imported schemas. Values that do not fit are reported at the
// property; what is missing only with `required_too`.
TypeReport check_types(System& system, bool required_too);

}  // namespace tutti::cdl
