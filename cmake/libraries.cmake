# Libraries whose own CMake packages ask for more than we use (MPI, OpenMP, a C compiler): found by file.

# CVODES, linked statically: a few hundred kilobytes, and no further library to load when the program starts.
find_path(SUNDIALS_INCLUDE cvodes/cvodes.h REQUIRED)
set(sundials_libraries "")
foreach(part cvodes nvecserial sunnonlinsolnewton generic)
  find_library(SUNDIALS_${part} NAMES libsundials_${part}.a sundials_${part} REQUIRED)
  list(APPEND sundials_libraries ${SUNDIALS_${part}})
endforeach()
add_library(mechanician_sundials INTERFACE)
target_include_directories(mechanician_sundials SYSTEM INTERFACE $<BUILD_INTERFACE:${SUNDIALS_INCLUDE}>)
target_link_libraries(mechanician_sundials INTERFACE ${sundials_libraries})

# KLU, linked statically for the same reason.
find_path(KLU_INCLUDE klu.h PATH_SUFFIXES suitesparse REQUIRED)
set(klu_libraries "")
foreach(part klu btf amd colamd suitesparseconfig)
  find_library(KLU_${part} NAMES lib${part}.a ${part} REQUIRED)
  list(APPEND klu_libraries ${KLU_${part}})
endforeach()
add_library(mechanician_klu INTERFACE)
target_include_directories(mechanician_klu SYSTEM INTERFACE $<BUILD_INTERFACE:${KLU_INCLUDE}>)
target_link_libraries(mechanician_klu INTERFACE ${klu_libraries})

# HDF5, linked statically too: Debian's shared library brings libcurl and libcrypto along, for files in the cloud that we
# never open, and that makes every start of the program 6 ms slower (of 5 ms); the archive costs 0.1 ms. Where there is no
# archive, the shared library does.
find_path(HDF5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/serial REQUIRED)
find_library(HDF5_core NAMES libhdf5.a hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial REQUIRED)
set(hdf5_libraries ${HDF5_core})
if(HDF5_core MATCHES "\\.a$")
  foreach(part sz aec z)
    find_library(HDF5_${part} NAMES lib${part}.a ${part} REQUIRED)
    list(APPEND hdf5_libraries ${HDF5_${part}})
  endforeach()
  list(APPEND hdf5_libraries ${CMAKE_DL_LIBS} m)
endif()
add_library(mechanician_hdf5 INTERFACE)
target_include_directories(mechanician_hdf5 SYSTEM INTERFACE $<BUILD_INTERFACE:${HDF5_INCLUDE}>)
target_link_libraries(mechanician_hdf5 INTERFACE ${hdf5_libraries})

# LLVM 19: its headers only. The program opens the library itself when it compiles for the first time, and does without
# where there is none.
option(MECHANICIAN_LLVM "Compile models to machine code with LLVM" ON)
set(llvm_definitions "")
if(MECHANICIAN_LLVM)
  find_path(LLVM_INCLUDE llvm/Config/llvm-config.h PATHS /usr/lib/llvm-19/include NO_DEFAULT_PATH)
  find_path(LLVM_INCLUDE llvm/Config/llvm-config.h)
  set(llvm_version "")
  if(LLVM_INCLUDE AND EXISTS ${LLVM_INCLUDE}/llvm-c/Core.h)
    file(STRINGS ${LLVM_INCLUDE}/llvm/Config/llvm-config.h llvm_version REGEX "LLVM_VERSION_STRING")
    string(REGEX MATCH "[0-9]+[.0-9]*" llvm_version "${llvm_version}")
  endif()
  if(llvm_version MATCHES "^19\\.")
    set(llvm_definitions MECHANICIAN_LLVM="${llvm_version}")
  else()
    message(STATUS "No headers of LLVM 19 (package llvm-19-dev): models are not optimised by it")
  endif()
endif()
add_library(mechanician_llvm INTERFACE)
target_link_libraries(mechanician_llvm INTERFACE ${CMAKE_DL_LIBS})
if(llvm_definitions)
  target_include_directories(mechanician_llvm SYSTEM INTERFACE $<BUILD_INTERFACE:${LLVM_INCLUDE}>)
  target_compile_definitions(mechanician_llvm INTERFACE ${llvm_definitions})
endif()

# cairo, for plots as PNG and PDF: its headers only. The program opens the library itself when it draws one.
find_path(CAIRO_INCLUDE cairo-pdf.h PATH_SUFFIXES cairo)
add_library(mechanician_cairo INTERFACE)
target_link_libraries(mechanician_cairo INTERFACE ${CMAKE_DL_LIBS})
if(CAIRO_INCLUDE)
  target_include_directories(mechanician_cairo SYSTEM INTERFACE $<BUILD_INTERFACE:${CAIRO_INCLUDE}>)
  target_compile_definitions(mechanician_cairo INTERFACE MECHANICIAN_CAIRO)
else()
  message(STATUS "No headers of cairo (package libcairo2-dev): plots are SVG or text, not PNG or PDF")
endif()

# TBB, for sweeps on all cores.
find_path(TBB_INCLUDE tbb/task_arena.h REQUIRED)
find_library(TBB_library NAMES tbb REQUIRED)
set(tbb_libraries ${TBB_library})
add_library(mechanician_tbb INTERFACE)
target_include_directories(mechanician_tbb SYSTEM INTERFACE $<BUILD_INTERFACE:${TBB_INCLUDE}>)
target_link_libraries(mechanician_tbb INTERFACE ${tbb_libraries} ${CMAKE_DL_LIBS})
