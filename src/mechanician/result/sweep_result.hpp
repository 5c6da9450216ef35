#pragma once

/// The result of a sweep: one row per motion, in their order, with what is to be said of all of them.
///
/// HDF5: every process of a sweep copies the blocks that it has written straight to their places in the one file. The file does
/// not depend on threads, ranks or interruptions.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/ensemble/ranks.hpp"
#include "mechanician/result/sweep_store.hpp"

namespace mechanician {

/// Of one quantity over all motions that have not failed and where it is a number.
struct SweepStatistics {
  std::string name;
  std::int64_t count = 0;
  double mean = 0.0, deviation = 0.0;  ///< of samples: over count − 1
  /// Least, 5 %, 25 %, 50 %, 75 %, 95 %, largest; between two motions by linear interpolation.
  std::vector<double> quantiles;
};
extern const std::vector<double> sweep_quantiles;

/// Of the kept values. The store is sorted.
std::vector<SweepStatistics> calc_statistics(const SweepStore& store, const SweepSetup& setup);

/// Over all motions of the store.
SweepCounts count_motions(const SweepStore& store, const SweepSetup& setup);

/// At most so many motions that are suspect or have failed, from the first on.
std::vector<SweepReason> find_reasons(const SweepStore& store, std::size_t most);
/// "m = 0.3, x' = 2"
std::string sample_text(const SweepStore& store, const SweepSetup& setup, std::int64_t motion);

/// Throws FileError where not every motion is there exactly once.
void check_complete(const SweepStore& store, const SweepSetup& setup);

void write_sweep_csv(const SweepStore& store, const SweepSetup& setup,
                     const std::function<void(std::string_view)>& write);
/// To the scratch file of the store.
void write_sweep_csv(SweepStore& store, const SweepSetup& setup);
/// To the scratch file of the store, by all ranks together.
void write_sweep_hdf5(SweepStore& store, const SweepSetup& setup, Ranks* ranks);

}  // namespace mechanician
