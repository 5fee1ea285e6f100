# What the program holds of other people's code, for `tutti version --libraries`: who learns that a library has a hole must
# be able to see whether his program has it. Archives and headers are a part of the program, in the version of the package that
# they came from when it was built; shared libraries are those of the machine it runs on.
function(tutti_package_of file out)
  set(${out} "" PARENT_SCOPE)
  file(REAL_PATH "${file}" real)
  execute_process(COMMAND dpkg-query -S ${real} OUTPUT_VARIABLE owner ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    return()
  endif()
  string(REGEX REPLACE ": .*" "" package "${owner}")
  execute_process(COMMAND dpkg-query -W -f "\${source:Package} \${Version}" ${package} OUTPUT_VARIABLE said ERROR_QUIET)
  set(${out} "${said}" PARENT_SCOPE)
endfunction()

execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.a OUTPUT_VARIABLE libstdcxx OUTPUT_STRIP_TRAILING_WHITESPACE)
set(parts ${libstdcxx})
foreach(name libcrypto libsqlite3 libre2 libyaml libutf8proc libgmp libmpfr libcrypt)
  if(STATIC_${name})
    list(APPEND parts ${STATIC_${name}})
  endif()
endforeach()
foreach(header fmt/format.h CLI/CLI.hpp toml++/toml.h tl/expected.hpp)
  find_file(header_file ${header} NO_CACHE)
  if(header_file)
    list(APPEND parts ${header_file})
  endif()
  unset(header_file)
endforeach()

set(linked "")
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  foreach(part ${parts})
    tutti_package_of(${part} package)
    get_filename_component(file ${part} NAME)
    if(NOT package)
      set(package "${file} of no package")
    endif()
    string(APPEND linked "    LinkedLibrary{\"${package}\", \"${file}\"},\n")
  endforeach()
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/libraries_table.cpp @ONLY CONTENT [[
#include "cli/libraries.h"

namespace tutti {

std::span<const LinkedLibrary> linked_libraries() {
  static constexpr std::array kAll = {
@linked@    LinkedLibrary{"", ""}};
  return std::span(kAll).first(kAll.size() - 1);
}

}  // namespace tutti
]])
