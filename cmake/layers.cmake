# A layer is a folder under src/ made into one static library. It may include only what it names after DEPENDS, and what
# those name in turn: a wrong include does not link. Sources are found by name, so that adding a file needs no edit here;
# *_test.cpp files of the folder become one test program.
find_package(GTest REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
enable_testing()
include(GoogleTest)

# The headers that nearly every file needs are read once: it halves the time of a build. They are the system's, never ours.
add_library(tutti_pch STATIC ${CMAKE_SOURCE_DIR}/cmake/precompiled.cpp)
target_link_libraries(tutti_pch PRIVATE fmt::fmt)
target_precompile_headers(tutti_pch PRIVATE
  <algorithm> <functional> <map> <memory> <mutex> <optional> <span> <string> <string_view> <unordered_map> <vector> <fmt/format.h>)

function(tutti_layer folder)
  cmake_parse_arguments(L "" "" "DEPENDS;LIBRARIES" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  set(needs "")
  foreach(d ${L_DEPENDS})
    string(REPLACE "/" "_" d ${d})
    list(APPEND needs tutti_${d})
  endforeach()
  if(sources)
    add_library(tutti_${name} STATIC ${sources})
    target_include_directories(tutti_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(tutti_${name} PUBLIC ${needs} PRIVATE ${L_LIBRARIES})
    target_precompile_headers(tutti_${name} REUSE_FROM tutti_pch)
  else()
    add_library(tutti_${name} INTERFACE)
    target_include_directories(tutti_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(tutti_${name} INTERFACE ${needs} ${L_LIBRARIES})
  endif()
  if(tests AND TUTTI_TESTS AND NOT TUTTI_FUZZ)
    add_executable(${name}_tests ${tests})
    target_compile_options(${name}_tests PRIVATE -O1)  # tests are compiled more often than they run long
    target_link_libraries(${name}_tests PRIVATE tutti_${name} ${L_LIBRARIES} GTest::gtest_main fmt::fmt)
    target_compile_definitions(${name}_tests PRIVATE TUTTI_SOURCE_DIR="${CMAKE_SOURCE_DIR}" TUTTI_BINARY="$<TARGET_FILE_DIR:${name}_tests>/tutti")
    add_test(NAME ${name} COMMAND ${name}_tests)
  endif()
endfunction()

# Makes the text of a file a constant of the program: `header` declares `extern const std::string_view name` in `space`.
function(tutti_embed folder file space name header)
  string(REPLACE "/" "_" layer ${folder})
  file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${file} text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  string(MAKE_C_IDENTIFIER ${file} unit)
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/embedded/${unit}.cpp CONTENT
    "#include \"${header}\"\n\nconst std::string_view ${space}::${name} = R\"~embedded~(${text})~embedded~\";\n")
  target_sources(tutti_${layer} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/embedded/${unit}.cpp)
endfunction()
