# The sparse elimination in `solve` shares large systems out to threads; the library of these shows in one source file.
target_link_libraries(mechanician_solve PRIVATE mechanician_tbb)

# Its loops for wider vectors, picked when the program runs.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(sparse_dir ${PROJECT_SOURCE_DIR}/src/mechanician/solve)
  set_source_files_properties(${sparse_dir}/sparse_kernels.cpp PROPERTIES COMPILE_DEFINITIONS MECHANICIAN_SPARSE_WIDE)
  set_property(SOURCE ${sparse_dir}/sparse_kernels_avx2.cpp APPEND PROPERTY
    COMPILE_OPTIONS "-mavx2;-mfma;-ffp-contract=fast")
  set_property(SOURCE ${sparse_dir}/sparse_kernels_avx512.cpp APPEND PROPERTY
    COMPILE_OPTIONS "-mavx512f;-mavx512vl;-mavx512dq;-mavx2;-mfma;-mprefer-vector-width=512;-ffp-contract=fast")
endif()

# METIS, for nets: its header only. The library is opened when a net comes along; without it there is a dissection of our own.
find_path(METIS_INCLUDE metis.h)
if(METIS_INCLUDE)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/mechanician/solve/sparse_dissection.cpp PROPERTIES
    COMPILE_DEFINITIONS MECHANICIAN_METIS="libmetis.so.5")
  target_include_directories(mechanician_solve SYSTEM PRIVATE ${METIS_INCLUDE})
else()
  message(STATUS "No header of METIS (package libmetis-dev): nets are ordered by a dissection of our own")
endif()

# Ranks by SPQR, which is under the GPL: a component of its own that the library does not link and that is not installed.
option(MECHANICIAN_SPQR "Build the component that uses SPQR (GPL)" ON)
find_path(SPQR_INCLUDE SuiteSparseQR.hpp PATH_SUFFIXES suitesparse)
find_library(SPQR_LIBRARY spqr)
find_library(SPQR_CHOLMOD_LIBRARY cholmod)
if(MECHANICIAN_SPQR AND SPQR_INCLUDE AND SPQR_LIBRARY AND SPQR_CHOLMOD_LIBRARY)
  set(suitesparse_dir ${PROJECT_SOURCE_DIR}/src/mechanician/suitesparse)
  add_library(mechanician_suitesparse STATIC EXCLUDE_FROM_ALL ${suitesparse_dir}/sparse_rank.cpp)
  target_include_directories(mechanician_suitesparse SYSTEM PRIVATE ${SPQR_INCLUDE})
  target_link_libraries(mechanician_suitesparse PUBLIC mechanician_solve PRIVATE ${SPQR_LIBRARY} ${SPQR_CHOLMOD_LIBRARY})
  mechanician_flags(mechanician_suitesparse)
  if(MECHANICIAN_TESTS)
    include(GoogleTest)
    add_executable(suitesparse_test ${suitesparse_dir}/sparse_rank_test.cpp)
    target_link_libraries(suitesparse_test PRIVATE mechanician_suitesparse GTest::gtest_main fmt::fmt)
    mechanician_flags(suitesparse_test)
    gtest_discover_tests(suitesparse_test DISCOVERY_TIMEOUT 600 PROPERTIES TIMEOUT 3600)
  endif()
endif()
