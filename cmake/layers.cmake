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
set(common <algorithm> <array> <functional> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <unordered_map>
           <unordered_set> <vector> <fmt/format.h>)
target_precompile_headers(tutti_pch PRIVATE ${common})
set(TUTTI_TEST_OPTIONS -O0)  # tests are compiled more often than they run long; what they test is compiled as users get it
add_library(tutti_test_pch STATIC EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/precompiled.cpp)
target_link_libraries(tutti_test_pch PRIVATE fmt::fmt GTest::gtest_main)
target_compile_options(tutti_test_pch PRIVATE ${TUTTI_TEST_OPTIONS})
target_precompile_headers(tutti_test_pch PRIVATE ${common} <gtest/gtest.h>)

# In a release build the files of a folder are compiled several at a time: what they include and instantiate alike is then
# compiled once, which takes a third off a clean build. The other builds compile file by file, and so find a missing include.
# ALONE (a regular expression) names files that cannot share a unit: tables of one name in each, or names of another namespace.
set(TUTTI_TOGETHER 6)
function(tutti_compile_together target alone sources)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(alone)
    list(FILTER sources EXCLUDE REGEX "${alone}")
  endif()
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${CMAKE_CURRENT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER ${folder} group)
    math(EXPR ${group} "${${group}} + 1")
    math(EXPR batch "(${${group}} - 1) / ${TUTTI_TOGETHER}")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group}_${batch})
  endforeach()
endfunction()

# HIDES names layers that this one may include and whoever depends on it may not (tests/layers sees to that).
# FACE names the headers of a layer that others may include, where not all are meant for them.
# WAITS is for layers that read a line of a command, ask the world and wait for it: little of a call's time is spent in their code,
# and compiling it with fewer optimisations takes a third less.
function(tutti_layer folder)
  cmake_parse_arguments(L "WAITS" "ALONE" "DEPENDS;HIDES;FACE;LIBRARIES" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  get_property(layers GLOBAL PROPERTY TUTTI_LAYERS)
  foreach(inner ${layers})  # a folder inside that is a layer of its own
    if(inner MATCHES "^${folder}/")
      list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${inner}/")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY TUTTI_LAYERS ${folder})
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  set(needs "")
  foreach(d ${L_DEPENDS} ${L_HIDES})
    string(REPLACE "/" "_" d ${d})
    list(APPEND needs tutti_${d})
  endforeach()
  if(sources)
    add_library(tutti_${name} STATIC ${sources})
    target_include_directories(tutti_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(tutti_${name} PUBLIC ${needs} PRIVATE ${L_LIBRARIES})
    target_precompile_headers(tutti_${name} REUSE_FROM tutti_pch)
    if(L_WAITS)
      target_compile_options(tutti_${name} PRIVATE -O1)
    endif()
    tutti_compile_together(tutti_${name} "${L_ALONE}" "${sources}")
  else()
    add_library(tutti_${name} INTERFACE)
    target_include_directories(tutti_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(tutti_${name} INTERFACE ${needs} ${L_LIBRARIES})
  endif()
  if(tests AND TUTTI_TESTS AND NOT TUTTI_FUZZ)
    add_executable(${name}_tests ${tests})
    target_compile_options(${name}_tests PRIVATE ${TUTTI_TEST_OPTIONS})
    target_precompile_headers(${name}_tests REUSE_FROM tutti_test_pch)
    target_link_libraries(${name}_tests PRIVATE tutti_${name} ${L_LIBRARIES} GTest::gtest_main fmt::fmt)
    foreach(t ${tests})  # only where it is used: elsewhere the name of a clone would keep the cache from serving the next one
      file(STRINGS ${t} uses REGEX TUTTI_SOURCE_DIR)
      if(uses)
        set_property(SOURCE ${t} APPEND PROPERTY COMPILE_DEFINITIONS TUTTI_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
      endif()
    endforeach()
    add_test(NAME ${name} COMMAND ${name}_tests)
  endif()
endfunction()

# Makes the text of a file, or of several one after the other, a constant of the program: `header` declares
# `extern const std::string_view name` in `space`.
function(tutti_embed folder file space name header)
  string(REPLACE "/" "_" layer ${folder})
  set(text "")
  foreach(one ${file} ${ARGN})
    file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${one} part)
    string(APPEND text "${part}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${one})
  endforeach()
  string(MAKE_C_IDENTIFIER ${file} unit)
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/embedded/${unit}.cpp CONTENT
    "#include \"${header}\"\n\nconst std::string_view ${space}::${name} = R\"~embedded~(${text})~embedded~\";\n")
  target_sources(tutti_${layer} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/embedded/${unit}.cpp)
endfunction()
