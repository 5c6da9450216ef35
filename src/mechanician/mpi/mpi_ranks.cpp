// mechanician_mpi.so: the processes of a sweep by MPI, for ensemble/ranks.cpp. A library of its own, so that the program runs where
// there is no MPI, and this file alone is built again for another one.

#include <mpi.h>

#include <vector>

#include "mechanician/ensemble/ranks_plugin.hpp"

namespace {

/// A message on its way: its bytes must stay until it is gone.
struct Sending {
  std::vector<char> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};
std::vector<Sending*>& sendings() {
  static std::vector<Sending*> all;
  return all;
}

void forget_sent() {
  std::erase_if(sendings(), [](Sending* s) {
    int done = 0;
    MPI_Test(&s->request, &done, MPI_STATUS_IGNORE);
    if (done) delete s;
    return done != 0;
  });
}

void send(int to, int tag, const void* bytes, std::size_t count) {
  forget_sent();
  const char* const first = static_cast<const char*>(bytes);
  auto* const sending = new Sending{std::vector<char>(first, first + count)};
  MPI_Isend(sending->bytes.data(), static_cast<int>(count), MPI_BYTE, to, tag, MPI_COMM_WORLD, &sending->request);
  sendings().push_back(sending);
}

int receive(int tag, void* bytes, std::size_t count, int* from) {
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &status);
  if (!there) return 0;
  *from = status.MPI_SOURCE;
  MPI_Recv(bytes, static_cast<int>(count), MPI_BYTE, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return 1;
}

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

void broadcast(void* bytes, std::size_t count) {
  // MPI counts in int.
  constexpr std::size_t most = std::size_t{1} << 30;
  for (char* at = static_cast<char*>(bytes); count > 0;) {
    const std::size_t part = count < most ? count : most;
    MPI_Bcast(at, static_cast<int>(part), MPI_BYTE, 0, MPI_COMM_WORLD);
    at += part, count -= part;
  }
}

void finish() {
  for (Sending* s : sendings()) {
    MPI_Wait(&s->request, MPI_STATUS_IGNORE);
    delete s;
  }
  sendings().clear();
  MPI_Finalize();
}

void abort_all(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const mechanician::RanksPlugin* mechanician_mpi_begin() {
  static mechanician::RanksPlugin plugin{
      mechanician::ranks_plugin_version, 0, 1, 1, send, receive, barrier, broadcast, finish, abort_all};
  int provided = 0;
  // One thread talks.
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_FUNNELED)
    return nullptr;
  MPI_Comm_rank(MPI_COMM_WORLD, &plugin.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &plugin.size);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &plugin.node_size);
  MPI_Comm_free(&node);
  return &plugin;
}
