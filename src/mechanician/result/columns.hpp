#pragma once

/// The columns of a result: what each number of a row is, and a sample as such a row.
///
///     t  x…  x'…  x''…  Qc(x)…  Qi(x)…  Qni(x)…  [Qcontrol(x)…]  lambda(NAME)…  outputs…  residual
///     power(NAME)…  work_given  work_ideal  work_nonideal  work_control  work(NAME)…
///
/// Qcontrol is there for models with control requirements only. New columns are added at the end or in such places;
/// readers go by name.

#include <span>
#include <string>
#include <vector>

#include "mechanician/instant/system.hpp"
#include "mechanician/motion/motion_record.hpp"

namespace mechanician {

/// Columns that belong together: one dataset of a file that keeps quantities apart.
struct ColumnGroup {
  std::string quantity;            ///< "t", "q", "qd", "Qc", "lambda", …
  std::vector<std::string> names;  ///< of the columns, never empty
  bool scalar = false;             ///< one number a row by its nature, not a vector that happens to have one entry
};

class Columns {
 public:
  explicit Columns(const System& system);

  /// Groups without columns are left out.
  const std::vector<ColumnGroup>& groups() const { return groups_; }
  std::vector<std::string> names() const;
  int size() const { return size_; }
  const std::vector<std::string>& coordinates() const { return coordinates_; }
  const std::vector<std::string>& constraints() const { return constraints_; }

  /// Replaces `row` by the numbers of the sample, in the order of names().
  void fill_row(const Sample& sample, std::vector<double>& row) const;

 private:
  void add(std::string quantity, std::vector<std::string> names);
  void add_scalar(std::string quantity);

  std::vector<ColumnGroup> groups_;
  std::vector<std::string> coordinates_, constraints_;
  int size_ = 0;
  bool has_control_ = false;
};

}  // namespace mechanician
