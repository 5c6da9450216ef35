#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/result/hdf5_session_internal.hpp"

namespace mechanician {

namespace {

constexpr std::uint64_t kib = 1024, gib = kib * kib * kib;

std::uint64_t pieces(std::uint64_t whole, std::uint64_t part) { return (whole + part - 1) / part; }

/// Pieces of at most `most`, all of nearly the same size: a last one that is nearly empty would take the room of a whole one.
std::uint64_t even(std::uint64_t whole, std::uint64_t most) { return pieces(whole, pieces(whole, most)); }

}  // namespace

std::optional<Hdf5Chunks> choose_chunks(const Hdf5Dataset& d) {
  const std::uint64_t size = d.rows * d.row_size();
  if (size < smallest_compressed) return std::nullopt;
  // A text is one number to HDF5.
  const std::uint64_t columns = d.matrix ? d.columns : 1, cell = d.row_size() / columns;
  const std::uint64_t cells = std::max<std::uint64_t>(1, (size < gib ? 256 * kib : 1024 * kib) / cell);
  const auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(cells)));
  // A square of numbers, but not more columns or rows than there are.
  Hdf5Chunks chunks;
  chunks.columns = std::min(columns, std::max(side, cells / std::min(d.rows, cells)));
  chunks.columns = even(columns, chunks.columns);
  chunks.rows = even(d.rows, std::min(d.rows, cells / chunks.columns));
  return chunks;
}

std::vector<Extent> write_chunks(const std::string& path, const std::vector<Hdf5Dataset>& datasets,
                                 const BlockReader& read) {
  std::vector<Extent> extents;
  if (std::none_of(datasets.begin(), datasets.end(), [](const Hdf5Dataset& d) { return d.chunks.has_value(); }))
    return extents;
  const Session session(path);
  const Handle access = session.file_access();
  Handle file = session.own(H5Fopen(path.c_str(), H5F_ACC_RDWR, access), H5Fclose, "cannot write");
  // Each chunk is written at once, and none is needed again.
  const Handle uncached = session.own(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, "a property");
  session.check(H5Pset_chunk_cache(uncached, 1, 0, H5D_CHUNK_CACHE_W0_DEFAULT), "a property");
  std::vector<char> bytes;
  for (const Hdf5Dataset& d : datasets) {
    if (!d.chunks) continue;
    const std::uint64_t columns = d.matrix ? d.columns : 1;
    Handle dataset = session.own(H5Dopen2(file, d.path.c_str(), uncached), H5Dclose, d.path);
    const Handle type = session.stored_type(d);
    for (Hdf5Block block; block.row < d.rows; block.row += block.rows) {
      block.rows = std::min(d.chunks->rows, d.rows - block.row);
      for (block.column = 0; block.column < columns; block.column += block.columns) {
        block.columns = std::min(d.chunks->columns, columns - block.column);
        bytes.resize(block.rows * block.columns * (d.row_size() / columns));
        read(d, block, bytes);
        const auto [in_file, in_memory] = session.select(dataset, block, d.path);
        session.check(H5Dwrite(dataset, type, in_memory, in_file, H5P_DEFAULT, bytes.data()), "cannot write");
      }
    }
    const Handle space = session.own(H5Dget_space(dataset), H5Sclose, d.path);
    hsize_t count = 0;
    session.check(H5Dget_num_chunks(dataset, space, &count), d.path);
    for (hsize_t i = 0; i < count; ++i) {
      hsize_t corner[2] = {};
      unsigned skipped = 0;
      haddr_t address = 0;
      hsize_t size = 0;
      session.check(H5Dget_chunk_info(dataset, space, i, corner, &skipped, &address, &size), d.path);
      extents.push_back({address, size});
    }
    session.check(dataset.close(), "cannot write");
  }
  session.check(file.close(), "cannot write");
  return extents;
}

}  // namespace mechanician
