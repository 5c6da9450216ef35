# A Debian package, made by CPack: program, library, headers, manual pages and completions of shells; and one for mpirun beside it.
# tools/build_package makes and tries it.

# Manual pages are made of the reference, completions by the program.
set(pages ${PROJECT_BINARY_DIR}/package/share)
find_package(Python3 3.11 QUIET COMPONENTS Interpreter)
if(Python3_FOUND)
  set(completions ${pages}/bash-completion/completions/mechanician ${pages}/zsh/vendor-completions/_mechanician
                  ${pages}/fish/vendor_completions.d/mechanician.fish)
  list(GET completions 0 bash)
  list(GET completions 1 zsh)
  list(GET completions 2 fish)
  add_custom_command(OUTPUT ${completions} VERBATIM DEPENDS mechanician_program
    COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}/bash-completion/completions ${pages}/zsh/vendor-completions ${pages}/fish/vendor_completions.d
    COMMAND mechanician_program completion bash > ${bash}
    COMMAND mechanician_program completion zsh > ${zsh}
    COMMAND mechanician_program completion fish > ${fish})
  file(GLOB reference CONFIGURE_DEPENDS docs/reference/*.md)
  add_custom_command(OUTPUT ${pages}/man/man1/mechanician.1 VERBATIM DEPENDS tools/build_man ${reference}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/build_man ${pages}/man ${PROJECT_VERSION})
  add_custom_target(mechanician_pages ALL DEPENDS ${completions} ${pages}/man/man1/mechanician.1)
  install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_DATADIR} OPTIONAL)
endif()

# What is packed was built before, and tests are not: cpack builds nothing.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mechanician)
set(CPACK_PACKAGE_VENDOR mechanician)
set(CPACK_PACKAGE_CONTACT "the authors of mechanician <mechanician@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL Unspecified mpi)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)  # with it comes the call of ldconfig
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME mechanician)
# Opened when they are there; headers of other people's programs need the rest.
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_RECOMMENDS "libllvm19, libcairo2")
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SUGGESTS
  "g++, libeigen3-dev, libfmt-dev, libtomlplusplus-dev, libtinyxml2-dev, libsundials-dev, libsuitesparse-dev, libhdf5-dev, libtbb-dev, zlib1g-dev, libaec-dev, mechanician-mpi")
set(CPACK_DEBIAN_MPI_PACKAGE_NAME mechanician-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "mechanician (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_MPI_DESCRIPTION "Sweeps of mechanician on many machines, under mpirun")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_SOURCE_DIR}/build/packages)
include(CPack)
