#pragma once

/// Everything that a sweep depends on, and its text in part files: a sweep that is taken up again takes it from there.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/ensemble/make_runner.hpp"
#include "mechanician/ensemble/motion_batch.hpp"
#include "mechanician/ensemble/samples.hpp"

namespace mechanician {

struct SweepSetup {
  std::string version;
  SourceText model;
  std::map<std::string, double> set, position, velocity, scale;
  std::optional<double> time;
  bool as_given = false;
  std::vector<std::string> vary;  ///< as given
  std::uint64_t parameters_hash =
      0;                     ///< of the values of all parameters, some of which may come from files beside the model
  std::string samples_file;  ///< instead of it, with the hash of what it held
  std::uint64_t samples_hash = 0;
  SampleOptions samples;
  EnsembleOptions options;
  Device device = Device::automatic;
  std::string computed_on;  ///< the device that it came to
  std::vector<std::string> keep;
  std::string format;  ///< of the result, "h5" or "csv", whatever a link to it is called; empty: standard output

  // What follows from it.
  std::int64_t motions = 0;
  double begin = 0.0;                     ///< time
  std::vector<std::string> sample_names;  ///< of columns: a varied start is start(x)
  std::vector<std::string> coordinates, kept_names;
};

std::string encode(const SweepSetup& setup);
/// Throws std::invalid_argument for a text that encode() has not made.
SweepSetup decode_sweep_setup(std::string_view text);

/// Of the file that samples come from.
std::uint64_t hash_samples(const SampleTable& table);
/// By bits.
std::uint64_t hash_numbers(const std::vector<double>& numbers);

}  // namespace mechanician
