#pragma once

/// The sources of open_result, one a format.

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mechanician/plot/result_source.hpp"
#include "mechanician/plot/text_input.hpp"

namespace mechanician {

std::unique_ptr<ResultSource> open_csv(std::unique_ptr<TextInput> input);
std::unique_ptr<ResultSource> open_json(std::unique_ptr<TextInput> input);
std::unique_ptr<ResultSource> open_hdf5(const std::string& file);

/// The whole text as a number, nan and inf included; nothing otherwise.
inline std::optional<double> number_of(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0.0;
  const char* const stop = text.data() + text.size();
  const auto read = std::from_chars(text.data(), stop, value);
  if (read.ptr != stop || text.empty()) return std::nullopt;
  // Too large or too small for a number: infinity or zero, as the C library says.
  if (read.ec == std::errc::result_out_of_range) return std::strtod(std::string(text).c_str(), nullptr);
  if (read.ec != std::errc{}) return std::nullopt;
  return value;
}

/// What is worth saying of a result with this status; empty for one that is done or stopped.
std::string remark_of(std::string_view status, std::string_view message);

}  // namespace mechanician
