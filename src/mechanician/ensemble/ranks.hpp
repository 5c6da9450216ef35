#pragma once

/// The processes of one sweep on one or several machines, under mpirun or srun.
///
/// MPI is not part of the program: what needs it is a small library of its own, mechanician_mpi.so (mpi/), which is opened when the
/// environment says that this process is one of several. One thread talks, the others compute.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

namespace mechanician {

struct RanksPlugin;

/// What became of motions so far.
struct SweepCounts {
  std::int64_t motions = 0, suspect = 0, stopped = 0, failed = 0, steps = 0;
  double violation = 0.0;  ///< largest
  void add(const SweepCounts& other);
};

class Ranks {
 public:
  /// Nothing where this process is alone. Throws std::runtime_error where it is one of several and there is no mechanician_mpi.so.
  static std::unique_ptr<Ranks> join();
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const;
  int size() const;
  int node_size() const;  ///< how many are on this machine

  /// Small messages: the sender does not wait for the receiver.
  template <class T>
  void send(int to, int tag, const T& message) {
    static_assert(std::is_trivially_copyable_v<T>);
    send_bytes(to, tag, &message, sizeof message);
  }
  /// False where none is there.
  template <class T>
  bool try_receive(int tag, T& message, int& from) {
    static_assert(std::is_trivially_copyable_v<T>);
    return receive_bytes(tag, &message, sizeof message, from);
  }
  void barrier();
  /// From rank 0 to all.
  void broadcast(void* bytes, std::size_t count);
  std::string broadcast(std::string text);
  /// Ends all processes.
  [[noreturn]] void abort(int status);

 private:
  explicit Ranks(const RanksPlugin* plugin, void* library) : plugin_(plugin), library_(library) {}
  void send_bytes(int to, int tag, const void* bytes, std::size_t count);
  bool receive_bytes(int tag, void* bytes, std::size_t count, int& from);

  const RanksPlugin* plugin_;
  void* library_;
};

}  // namespace mechanician
