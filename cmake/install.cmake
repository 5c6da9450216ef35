# Installs the library, as an archive and as a shared object, its headers, the program and a CMake package: an outside project says
#   find_package(mechanician REQUIRED)
#   target_link_libraries(its_target PRIVATE mechanician::mechanician)      or mechanician::shared
# tests/outside is such a project.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mechanician)

install(TARGETS mechanician EXPORT mechanician_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET mechanician_shared)
  install(TARGETS mechanician_shared EXPORT mechanician_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(TARGETS mechanician_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# The one header for users, and what it includes. The rest is nobody else's business.
mechanician_public_headers(public_headers)
foreach(header IN LISTS public_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()

# pkg-config, for those who do not build with CMake: `mechanician` is the shared library, `mechanician-static` the archive, which names what
# it is linked with itself. Where there is no shared library both are the archive.
set(private_libraries "")
foreach(library IN LISTS sundials_libraries klu_libraries hdf5_libraries tbb_libraries CMAKE_DL_LIBS)
  if(library MATCHES "^/")
    string(APPEND private_libraries " ${library}")
  else()
    string(APPEND private_libraries " -l${library}")
  endif()
endforeach()
file(RELATIVE_PATH pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" pc_to_prefix ${pc_to_prefix})
foreach(name mechanician mechanician-static)
  set(pc_name ${name})
  set(pc_libraries "-lmechanician")
  if(name STREQUAL "mechanician-static" OR NOT TARGET mechanician_shared)
    set(pc_libraries "-l:libmechanician.a -lfmt -ltomlplusplus -ltinyxml2${private_libraries}")
  endif()
  configure_file(cmake/mechanician.pc.in ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

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
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)  # where Debian looks for it
