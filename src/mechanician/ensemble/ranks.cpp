#include "mechanician/ensemble/ranks.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "mechanician/ensemble/ranks_plugin.hpp"

namespace mechanician {

void SweepCounts::add(const SweepCounts& other) {
  motions += other.motions, suspect += other.suspect, stopped += other.stopped, failed += other.failed,
      steps += other.steps;
  violation = std::max(violation, other.violation);
}

namespace {

/// How many processes the launcher has started; 1 where there is none.
int size_of_environment() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* text = std::getenv(name))
      if (const int size = std::atoi(text); size > 0) return size;
  return 1;
}

std::vector<std::string> plugin_places() {
  if (const char* given = std::getenv("MECHANICIAN_MPI")) return {given};
  std::vector<std::string> places;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const std::filesystem::path folder = program.parent_path();
    places.push_back((folder / "mechanician_mpi.so").string());
    for (const char* lib : {"lib", "lib64", "lib/x86_64-linux-gnu"})
      places.push_back((folder.parent_path() / lib / "mechanician" / "mechanician_mpi.so").string());
  }
  return places;
}

}  // namespace

std::unique_ptr<Ranks> Ranks::join() {
  const int size = size_of_environment();
  if (size < 2) return nullptr;
  std::string why = "it is not there";
  for (const std::string& place : plugin_places()) {
    std::error_code error;
    if (!std::filesystem::exists(place, error)) continue;
    // Libraries of MPI open further ones of their own, which look for its symbols.
    void* library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
      why = ::dlerror();
      continue;
    }
    const auto begin = reinterpret_cast<RanksPluginBegin>(::dlsym(library, "mechanician_mpi_begin"));
    const RanksPlugin* plugin = begin ? begin() : nullptr;
    if (plugin && plugin->version == ranks_plugin_version) return std::unique_ptr<Ranks>(new Ranks(plugin, library));
    why = fmt::format("{} does not fit this program", place);
  }
  throw std::runtime_error(
      fmt::format("this is one of {} processes of a parallel job, which needs mechanician_mpi.so: {}", size, why));
}

Ranks::~Ranks() { plugin_->finish(); }  // the library stays open: MPI has handlers in it for the end of the process

int Ranks::rank() const { return plugin_->rank; }
int Ranks::size() const { return plugin_->size; }
int Ranks::node_size() const { return plugin_->node_size; }
void Ranks::barrier() { plugin_->barrier(); }
void Ranks::broadcast(void* bytes, std::size_t count) { plugin_->broadcast(bytes, count); }

std::string Ranks::broadcast(std::string text) {
  std::uint64_t size = text.size();
  broadcast(&size, sizeof size);
  text.resize(static_cast<std::size_t>(size));
  broadcast(text.data(), text.size());
  return text;
}

void Ranks::abort(int status) {
  plugin_->abort(status);
  std::_Exit(status);
}

void Ranks::send_bytes(int to, int tag, const void* bytes, std::size_t count) { plugin_->send(to, tag, bytes, count); }
bool Ranks::receive_bytes(int tag, void* bytes, std::size_t count, int& from) {
  return plugin_->receive(tag, bytes, count, &from) != 0;
}

}  // namespace mechanician
