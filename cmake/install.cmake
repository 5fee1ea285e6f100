# What cmake --install and CPack put where.
include(GNUInstallDirs)
install(TARGETS tutti RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
foreach(folder docs examples schema)
  if(EXISTS ${CMAKE_SOURCE_DIR}/${folder})
    install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_DOCDIR} REGEX "docs/site$" EXCLUDE)  # which builds pages of these
  endif()
endforeach()

# The man page is made from the documentation, the completions by the program itself.
if(NOT TUTTI_FUZZ)
  find_package(Python3 COMPONENTS Interpreter)
  set(made ${CMAKE_BINARY_DIR}/share)
  set(manual ${CMAKE_SOURCE_DIR}/docs/reference/command-line.md ${CMAKE_SOURCE_DIR}/docs/reference/verbs.md)
  if(Python3_FOUND)
    add_custom_command(
      OUTPUT ${made}/tutti.1
      COMMAND ${CMAKE_COMMAND} -E make_directory ${made}
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/manpage ${PROJECT_VERSION} ${made}/tutti.1 ${manual}
      DEPENDS ${CMAKE_SOURCE_DIR}/scripts/manpage ${manual})
    add_custom_target(manpage ALL DEPENDS ${made}/tutti.1)
    install(FILES ${made}/tutti.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
  add_custom_command(
    OUTPUT ${made}/tutti.bash ${made}/_tutti ${made}/tutti.fish
    COMMAND ${CMAKE_COMMAND} -E make_directory ${made}
    COMMAND tutti completion bash -o ${made}/tutti.bash
    COMMAND tutti completion zsh -o ${made}/_tutti
    COMMAND tutti completion fish -o ${made}/tutti.fish
    DEPENDS tutti)
  add_custom_target(completions ALL DEPENDS ${made}/tutti.bash)
  install(FILES ${made}/tutti.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tutti)
  install(FILES ${made}/_tutti DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  install(FILES ${made}/tutti.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tutti)
set(CPACK_PACKAGE_CONTACT "The tutti authors <tutti@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "evaluates configurations, explains every value and brings systems to what they say")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS libxml2)  # loaded when it is needed, so nothing names it
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
include(CPack)
