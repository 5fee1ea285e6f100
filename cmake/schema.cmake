# The component types that ship with tutti are in schema/types.yaml and go into the program as they are written there.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/schema/types.yaml)
file(READ ${CMAKE_SOURCE_DIR}/schema/types.yaml types_text)
# A compiler takes only so long a text in one piece.
string(REGEX REPLACE "\n\n# ----" ")~~~\"\nR\"~~~(\n\n# ----" types_text "${types_text}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/types_text.cpp @ONLY CONTENT [[
#include <string_view>

namespace tutti::deploy {

std::string_view types_text() {
  return R"~~~(@types_text@)~~~";
}

}  // namespace tutti::deploy
]])
