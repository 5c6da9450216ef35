#pragma once

/// Model files: text to Model.
///
/// A model file is TOML with expressions as strings. Everything that is wrong with it is collected, mistakes of the
/// TOML as well as of the mechanics (validate.hpp), and thrown as one ModelError with a place for each. A model file
/// opens no files but CSV files in its own folder and runs no code.
///
/// Limits: a file has at most 16 MiB, an expression 4 MiB, a number as exponent 1e6, a model 100,000 coordinates (2,000
/// with `mass` instead of `kinetic`); brackets nest at most 32 deep in the TOML. Expressions and definitions nest
/// without limit.
///
/// Families (names with an index) are written out member by member (family_model.hpp reads them as they are). A model file may
/// name CSV files beside it.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/model/model.hpp"
#include "mechanician/model/parameters.hpp"

namespace mechanician {

inline constexpr std::size_t largest_file = std::size_t{16} << 20;  ///< bytes

/// Throws FileError if the file cannot be read, and ModelError if it is no model. "-" is standard input, which is read once.
/// `overrides` (parameters.hpp) matter here for parameters that sizes of families are made of; they are not kept.
Model read_model(const std::filesystem::path& file, const ParameterOverrides& overrides = {});

/// The same for a text in memory; `file_name` is for messages, and its folder is where CSV files are looked for.
Model read_model_text(std::string_view text, std::string file_name, const ParameterOverrides& overrides = {});

/// The CSV files that a model takes numbers from, as far as it can be read: what must not be overwritten.
std::vector<std::string> data_files(const std::filesystem::path& file);

}  // namespace mechanician
