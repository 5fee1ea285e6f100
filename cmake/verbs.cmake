# The table of the command line's verbs, made from the files in src/cli/verbs: adding a verb is adding a file.
# Verbs are in the order of their file names; help groups them.
file(GLOB verb_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cli/verbs/*.cpp)
list(FILTER verb_files EXCLUDE REGEX "_test\\.cpp$")
set(declared "")
set(listed "")
foreach(f ${verb_files})
  get_filename_component(v ${f} NAME_WE)
  string(APPEND declared "extern const Verb ${v}_verb;\n")
  string(APPEND listed "    &${v}_verb,\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/verbs_table.cpp @ONLY CONTENT [[
#include "cli/verb.h"

namespace tutti {

@declared@
std::span<const Verb* const> verbs() {
  static constexpr const Verb* kAll[] = {
@listed@  };
  return kAll;
}

const Verb* verb_named(std::string_view name) {
  for (const Verb* verb : verbs()) {
    if (verb->name == name) return verb;
  }
  return nullptr;
}

}  // namespace tutti
]])
