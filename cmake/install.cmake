# Installs the library, its headers, the program and a CMake package: an outside project says
#   find_package(mechanician REQUIRED)
#   target_link_libraries(its_target PRIVATE mechanician::mechanician)
# tests/outside is such a project.

include(CMakePackageConfigHelpers)


set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mechanician)

install(TARGETS mechanician EXPORT mechanician_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS mechanician_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# All headers of the stages but those that only tests or other sources of the same folder use (named so).
install(DIRECTORY src/mechanician DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp"
  PATTERN "cli" EXCLUDE
  PATTERN "suitesparse" EXCLUDE
  REGEX "(internal|testing|_test)[^/]*$" EXCLUDE)

configure_package_config_file(cmake/mechanicianConfig.cmake.in ${PROJECT_BINARY_DIR}/package/mechanicianConfig.cmake
  INSTALL_DESTINATION ${package_dir})
# Below 1.0 a new minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/mechanicianConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/mechanicianConfig.cmake
              ${PROJECT_BINARY_DIR}/package/mechanicianConfigVersion.cmake
  DESTINATION ${package_dir})
install(EXPORT mechanician_targets NAMESPACE mechanician:: FILE mechanicianTargets.cmake DESTINATION ${package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
