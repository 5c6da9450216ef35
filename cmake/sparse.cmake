# The sparse elimination in `solve`: its loops for wider vectors, picked when the program runs.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(sparse_dir ${PROJECT_SOURCE_DIR}/src/mechanician/solve)
  set_source_files_properties(${sparse_dir}/sparse_kernels.cpp PROPERTIES COMPILE_DEFINITIONS MECHANICIAN_SPARSE_WIDE)
  set_source_files_properties(${sparse_dir}/sparse_kernels_avx2.cpp PROPERTIES
    COMPILE_OPTIONS "-mavx2;-mfma;-ffp-contract=fast")
  set_source_files_properties(${sparse_dir}/sparse_kernels_avx512.cpp PROPERTIES
    COMPILE_OPTIONS "-mavx512f;-mavx512vl;-mavx512dq;-mavx2;-mfma;-mprefer-vector-width=512;-ffp-contract=fast")
endif()
