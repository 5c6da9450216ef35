// Variables of the C library by names of our own, for archives that were compiled for programs (cmake/shared.cmake).

#include <cstdio>

extern "C" {
__attribute__((visibility("hidden"))) FILE *mechanician_stdin, *mechanician_stdout, *mechanician_stderr;
}

namespace {
__attribute__((constructor)) void set_streams() {
  mechanician_stdin = stdin, mechanician_stdout = stdout, mechanician_stderr = stderr;
}
}  // namespace
