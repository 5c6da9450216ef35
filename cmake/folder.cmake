# One static library and one test program per folder of src/mechanician.
#
# mechanician_folder(NAME [DEPENDS folder...] [PUBLIC target...] [PRIVATE target...])
#   library  mechanician_NAME   all *.cpp of the folder but *_test.cpp
#   program  NAME_test          all *_test.cpp of the folder, if there are any
# mechanician_library()         joins all folders into the library that is installed

set(MECHANICIAN_FOLDERS "" CACHE INTERNAL "")

# mechanician_long_loops(NAME...)   sources FOLDER/NAME.cpp that compute: optimised most, and so without the precompiled header
function(mechanician_long_loops)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/src/mechanician/)
  list(TRANSFORM ARGN APPEND .cpp)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
endfunction()

function(mechanician_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                                           -Werror -ffp-contract=off)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 reports false positives of these from inside Eigen and the standard library.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict)
    # It looks for memory that it could use again from 128 MB on, a twentieth of its time; few sources need half a gigabyte.
    target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=524288)
  endif()
  if(MECHANICIAN_SANITIZE)
    # Rows and blocks of matrices without entries are null pointers with an offset in Eigen, which nobody reads.
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_definitions(${target} PRIVATE MECHANICIAN_SANITIZED)
    if(target MATCHES "^mechanician_(base|expression|model|equations|compile|solve|large|instant|motion|analysis|ensemble)$|^fuzz_")
      target_compile_options(${target} PRIVATE -O1)  # what reads and computes: the tests save more than that costs
    endif()
    target_link_options(${target} PRIVATE -fsanitize=address,undefined)
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      # From where the compiler runs, so that a compiler cache knows the objects of other clones.
      file(RELATIVE_PATH ignored ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR}/cmake/sanitizers.ignore)
      target_compile_options(${target} PRIVATE -fsanitize-ignorelist=${ignored})
      if(target MATCHES "^mechanician_(base|expression|model|equations)$|^fuzz_")
        # What the fuzzer steers by: which branches of the library an input reaches. Tests use the same objects.
        target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
      endif()
    endif()
  endif()
endfunction()

function(mechanician_folder name)
  cmake_parse_arguments(arg "" "" "DEPENDS;PUBLIC;PRIVATE" ${ARGN})
  set(dir ${PROJECT_SOURCE_DIR}/src/mechanician/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  if(NOT sources)
    return()
  endif()

  add_library(mechanician_${name} STATIC ${sources})
  target_include_directories(mechanician_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
  list(TRANSFORM arg_DEPENDS PREPEND mechanician_ OUTPUT_VARIABLE depends)
  target_link_libraries(mechanician_${name} PUBLIC ${depends} ${arg_PUBLIC} PRIVATE ${arg_PRIVATE} fmt::fmt)
  target_compile_definitions(mechanician_${name} PRIVATE MECHANICIAN_VERSION="${PROJECT_VERSION}")
  mechanician_flags(mechanician_${name})
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    if(name MATCHES "^(model|output|result|report|plot)$")
      target_compile_options(mechanician_${name} PRIVATE -O1)  # words; no loop of these is long
    else()
      target_compile_options(mechanician_${name} PRIVATE -O2)  # a sixth quicker than -O3, which is for long loops
    endif()
  endif()
  mechanician_precompiled(mechanician_${name})
  set(MECHANICIAN_FOLDERS ${MECHANICIAN_FOLDERS} ${name} CACHE INTERNAL "")

  if(MECHANICIAN_TESTS AND tests)
    find_package(GTest REQUIRED)
    include(GoogleTest)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE mechanician_${name} GTest::gtest_main fmt::fmt)
    # Only where it is used: compiler caches know the others in every clone.
    foreach(test IN LISTS tests)
      file(STRINGS ${test} uses REGEX MECHANICIAN_SOURCE_DIR LIMIT_COUNT 1)
      if(uses)
        set_property(SOURCE ${test} APPEND PROPERTY COMPILE_DEFINITIONS MECHANICIAN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
      endif()
    endforeach()
    mechanician_flags(${name}_test)
    if(CMAKE_BUILD_TYPE STREQUAL "Release")
      target_compile_options(${name}_test PRIVATE -O1)  # compiles faster than it saves
    endif()
    mechanician_precompiled(${name}_test HEADER <gtest/gtest.h> LIBRARY GTest::gtest)
    set(cache MECHANICIAN_CACHE=${PROJECT_BINARY_DIR}/code_cache)
    if(MECHANICIAN_SANITIZE)
      # Starting a sanitized program takes longer than most of its tests: four pieces of each, not a process for every test.
      foreach(piece RANGE 3)
        add_test(NAME ${name}.${piece} COMMAND ${name}_test --gtest_brief=1)
        set_tests_properties(${name}.${piece} PROPERTIES TIMEOUT 3600
          ENVIRONMENT "${cache};GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${piece}")
      endforeach()
    else()
      gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 600 PROPERTIES TIMEOUT 3600 ENVIRONMENT ${cache})
    endif()
  endif()
endfunction()

function(mechanician_library)
  set(objects "")
  foreach(name IN LISTS MECHANICIAN_FOLDERS)
    list(APPEND objects $<TARGET_OBJECTS:mechanician_${name}>)
  endforeach()
  add_library(mechanician STATIC ${objects})
  add_library(mechanician::mechanician ALIAS mechanician)
  set_target_properties(mechanician PROPERTIES LINKER_LANGUAGE CXX)
  target_compile_features(mechanician PUBLIC cxx_std_20)
  target_include_directories(mechanician PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(mechanician PUBLIC Eigen3::Eigen PRIVATE fmt::fmt tomlplusplus::tomlplusplus tinyxml2::tinyxml2
    ${sundials_libraries} ${klu_libraries} ${hdf5_libraries} ${tbb_libraries} ${CMAKE_DL_LIBS})
endfunction()
