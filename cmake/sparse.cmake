# The sparse elimination in `solve`: its loops for wider vectors, picked when the program runs.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(sparse_dir ${PROJECT_SOURCE_DIR}/src/mechanician/solve)
  set_source_files_properties(${sparse_dir}/sparse_kernels.cpp PROPERTIES COMPILE_DEFINITIONS MECHANICIAN_SPARSE_WIDE)
  set_source_files_properties(${sparse_dir}/sparse_kernels_avx2.cpp PROPERTIES
    COMPILE_OPTIONS "-mavx2;-mfma;-ffp-contract=fast")
  set_source_files_properties(${sparse_dir}/sparse_kernels_avx512.cpp PROPERTIES
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
