# Installs the library from `build` into a fresh prefix under `work`, then configures, builds and runs the outside project
# in `source` against that prefix alone.

function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status}):\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${work})
step("installing" ${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)
step("configuring" ${CMAKE_COMMAND} -S ${source} -B ${work}/build -G ${generator} -D CMAKE_CXX_COMPILER=${compiler}
     -D CMAKE_BUILD_TYPE=Release -D CMAKE_PREFIX_PATH=${work}/prefix -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
step("building" ${CMAKE_COMMAND} --build ${work}/build)
step("running the outside program" ${work}/build/outside ${version})
step("running the installed program" ${work}/prefix/bin/mechanician --version)
