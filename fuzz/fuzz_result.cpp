/// Any bytes are either a result whose columns can be read, each with as many rows, or are refused by name: as CSV, JSON or HDF5, as
/// samples of a sweep and as the checkpoint of a run.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/ensemble/samples.hpp"
#include "mechanician/plot/result_source.hpp"
#include "mechanician/result/run_checkpoint.hpp"
#include "require.hpp"

namespace {

using namespace mechanician;

/// A file that is nowhere, by a name.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : file_(memfd_create("result", 0)) {
    require(file_ >= 0 && write(file_, data, size) == static_cast<ssize_t>(size), "there is a file");
    name_ = "/proc/self/fd/" + std::to_string(file_);
  }
  ~Bytes() { close(file_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  const std::string& name() const { return name_; }

 private:
  int file_;
  std::string name_;
};

void read_result(const std::string& file) {
  try {
    const auto source = open_result(file);
    require(!source->columns().empty(), "a result has columns");
    std::vector<std::size_t> all(source->columns().size());
    std::iota(all.begin(), all.end(), 0);
    const ResultRows rows = source->read(all);
    require(rows.columns.size() == all.size(), "every column that is asked for is there");
    for (const auto& column : rows.columns)
      require(column.size() == rows.columns.front().size(), "all columns are as long");
    for (const ResultEvent& event : rows.events)
      require(event.position.size() <= rows.coordinates.size(), "events have the coordinates of the result");
  } catch (const FileError& e) {
    require(*e.what() != '\0', "a refusal has a reason");
  }
}

void read_as_samples(const std::string& file) {
  try {
    const SampleTable table = read_samples(file);
    require(!table.names.empty() && table.values.size() % table.names.size() == 0, "every sample has all values");
  } catch (const std::invalid_argument& e) {
    require(*e.what() != '\0', "a refusal has a reason");
  } catch (const FileError& e) {
    require(*e.what() != '\0', "a refusal has a reason");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, size);
  read_result(bytes.name());
  if (size > 0 && data[0] != 0x89) read_as_samples(bytes.name());
  checkpoint_of({reinterpret_cast<const char*>(data), size});
  return 0;
}
