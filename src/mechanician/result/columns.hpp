#pragma once

/// The columns of a result: what each number of a row is, and a sample as such a row.
///
///     t  x…  x'…  x''…  Qc(x)…  Qi(x)…  Qni(x)…  [Qcontrol(x)…]  lambda(NAME)…  outputs…  modes…  engaged(NAME)…  residual
///     power(NAME)…  work_given  work_ideal  work_nonideal  work_control  work(NAME)…
///
/// Qcontrol is there for models with control requirements only. New columns are added at the end or in such places;
/// readers go by name. Of all these some may be chosen, by patterns with * and ?; t is always among them.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/instant/system.hpp"
#include "mechanician/motion/motion_record.hpp"

namespace mechanician {

/// Columns that belong together: one dataset of a file that keeps quantities apart.
struct ColumnGroup {
  std::string quantity;            ///< "t", "q", "qd", "Qc", "lambda", …
  std::vector<std::string> names;  ///< of the columns, never empty
  bool scalar = false;             ///< one number a row by its nature, not a vector that happens to have one entry
  std::vector<std::uint32_t> chosen = {};  ///< entries of the quantity; none: all of them
};

class Columns {
 public:
  /// `patterns`: joined by commas; empty: all. Throws std::invalid_argument for one that fits no column.
  explicit Columns(const System& system, std::string_view patterns = {});

  /// Groups without columns are left out.
  const std::vector<ColumnGroup>& groups() const { return groups_; }
  std::vector<std::string> names() const;
  int size() const { return size_; }
  bool has(std::string_view quantity) const;

  /// All names, whatever columns were chosen; none where they are too many to be listed.
  const std::vector<std::string>& coordinates() const { return coordinates_; }
  const std::vector<std::string>& constraints() const { return constraints_; }
  long num_constraints() const { return num_constraints_; }

  /// Replaces `row` by the numbers of the sample, in the order of names().
  void fill_row(const Sample& sample, std::vector<double>& row) const;
  /// The same of what Integrator::sample_later() knows; no numbers in the other columns.
  void fill_row(double t, std::span<const double> state, std::vector<double>& row) const;
  /// By column: whether that knows it.
  std::vector<char> in_state() const;

 private:
  using Quantities = std::array<std::span<const double>, 25>;
  void fill_row(const Quantities& quantities, std::vector<double>& row) const;

  std::vector<ColumnGroup> groups_;
  std::vector<std::uint8_t> quantity_of_;  ///< by group
  std::vector<std::string> coordinates_, constraints_;
  long num_coordinates_ = 0, num_constraints_ = 0;
  int size_ = 0;
};

}  // namespace mechanician
