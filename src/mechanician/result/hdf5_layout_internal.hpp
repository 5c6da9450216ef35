#pragma once

/// What lies where in a result file.

#include <string>
#include <vector>

#include "mechanician/result/hdf5_file.hpp"
#include "mechanician/result/result_writer.hpp"

namespace mechanician {

inline constexpr const char* result_format = "mechanician result 1";  ///< attribute `format`
/// Attribute `checkpoint_format`: what checkpoints and lists of parameters hold. Version 0.1 had none.
inline constexpr std::int64_t checkpoint_format = 3;

/// How much fits into a file.
struct Room {
  std::uint64_t rows = 0, events = 0;
  std::uint64_t name_size = 1, constraints_size = 1;  ///< bytes of the texts of an event
  std::uint64_t checkpoint_size = 0;                  ///< of one of the two; 0: none
};

std::vector<Hdf5Dataset> plan_datasets(const ResultHeader& header, const Room& room);
std::vector<Hdf5Attribute> plan_attributes(const ResultHeader& header, const RunState& state);

/// A dataset as it lies in the file.
struct PackedColumn {
  std::string path;
  std::string bytes;
};
/// Names of columns that are too many for an attribute: datasets `columns/QUANTITY`.
std::vector<PackedColumn> long_names(const Columns& columns);

/// The texts and numbers of events as the datasets of group `events` hold them.
std::vector<PackedColumn> pack_events(std::span<const MotionEvent> events, const Room& room, std::size_t n);
std::string constraints_text(const MotionEvent& event);

}  // namespace mechanician
