# libmechanician.so: the objects of the archive, linked a second time. It shows what the public headers name, under a version, and nothing of
# the libraries inside it.

# mechanician_link_archives(TARGET)   links the third-party libraries into a shared object that shows none of their symbols
#
# Archives of Debian are made for programs (-fPIE). Inside a shared object that shows none of their symbols they do as well, but for
# variables of the C library, stdout and its like: copies of the archives have names for these that are our own (streams.cpp).
set(archive_copies "")
foreach(library IN LISTS sundials_libraries klu_libraries hdf5_libraries)
  if(library MATCHES "\\.a$" AND NOT MECHANICIAN_SANITIZE)
    get_filename_component(name ${library} NAME)
    set(copy ${PROJECT_BINARY_DIR}/archives/${name})
    if(NOT copy IN_LIST archive_copies)
      add_custom_command(OUTPUT ${copy} DEPENDS ${library} VERBATIM
        COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/archives
        COMMAND ${CMAKE_OBJCOPY} --redefine-sym stdin=mechanician_stdin --redefine-sym stdout=mechanician_stdout
                --redefine-sym stderr=mechanician_stderr ${library} ${copy})
      list(APPEND archive_copies ${copy})
    endif()
  endif()
endforeach()
add_custom_target(mechanician_archives DEPENDS ${archive_copies})

function(mechanician_link_archives target)
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/mechanician/shared/streams.cpp)
  add_dependencies(${target} mechanician_archives)
  foreach(library IN LISTS sundials_libraries klu_libraries hdf5_libraries)
    get_filename_component(name ${library} NAME)
    if(library MATCHES "\\.a$" AND NOT MECHANICIAN_SANITIZE)
      target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/archives/${name}>)
    elseif(library MATCHES "\\.a$")
      string(REGEX REPLACE "^lib(.*)\\.a$" "\\1" name ${name})
      find_library(shared_${name} NAMES ${name}_serial ${name} REQUIRED)
      target_link_libraries(${target} PRIVATE ${shared_${name}})
    else()
      target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${library}>)
    endif()
  endforeach()
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:fmt::fmt> $<BUILD_INTERFACE:tomlplusplus::tomlplusplus>
    $<BUILD_INTERFACE:tinyxml2::tinyxml2> $<BUILD_INTERFACE:${tbb_libraries}> $<BUILD_INTERFACE:${CMAKE_DL_LIBS}>)
endfunction()

# A sanitised one would need a sanitised program around it.
find_package(Python3 3.11 QUIET COMPONENTS Interpreter)
option(MECHANICIAN_SHARED "Link the library as libmechanician.so too" ON)
if(NOT MECHANICIAN_SHARED OR MECHANICIAN_SANITIZE OR NOT Python3_FOUND)
  return()
endif()

set(objects "")
foreach(name IN LISTS MECHANICIAN_FOLDERS)
  list(APPEND objects $<TARGET_OBJECTS:mechanician_${name}>)
endforeach()
add_library(mechanician_shared SHARED ${objects})
# Below 1.0 a new minor version may change the interface: it is part of the name that programs look for.
set_target_properties(mechanician_shared PROPERTIES OUTPUT_NAME mechanician EXPORT_NAME shared LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
target_compile_features(mechanician_shared PUBLIC cxx_std_20)
target_include_directories(mechanician_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(mechanician_shared PUBLIC Eigen3::Eigen)
mechanician_link_archives(mechanician_shared)

mechanician_public_headers(public_headers)
list(TRANSFORM public_headers PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE public_headers)
set(shown ${PROJECT_BINARY_DIR}/package/shown_symbols)
add_custom_command(OUTPUT ${shown} DEPENDS mechanician ${public_headers} cmake/shown_symbols.py VERBATIM
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/shown_symbols.py --nm ${CMAKE_NM} --archive $<TARGET_FILE:mechanician>
          --version MECHANICIAN_${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} --output ${shown} ${public_headers})
add_custom_target(mechanician_shown_symbols DEPENDS ${shown})
add_dependencies(mechanician_shared mechanician_shown_symbols)
set_property(TARGET mechanician_shared APPEND PROPERTY LINK_DEPENDS ${shown})
target_link_options(mechanician_shared PRIVATE -Wl,--version-script=${shown} -Wl,--no-undefined)
