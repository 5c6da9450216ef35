#pragma once

/// What mechanician_mpi.so offers, in C: the program and the library may come from different compilers.

#include <cstddef>

namespace mechanician {

inline constexpr int ranks_plugin_version = 1;

extern "C" {

struct RanksPlugin {
  int version;
  int rank, size, node_size;
  void (*send)(int to, int tag, const void* bytes, std::size_t count);
  /// 1 and the sender where a message with the tag was there.
  int (*receive)(int tag, void* bytes, std::size_t count, int* from);
  void (*barrier)();
  void (*broadcast)(void* bytes, std::size_t count);
  void (*finish)();
  void (*abort)(int status);
};

/// Null where MPI cannot begin.
using RanksPluginBegin = const RanksPlugin* (*)();

}  // extern "C"

}  // namespace mechanician
