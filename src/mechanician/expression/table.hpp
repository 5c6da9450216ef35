#pragma once

/// Functions given by data: a table of one argument, or of two on a grid.
///
///     const Table quake({.name = "quake", .arguments = {{0, 0.1, 0.2, 0.3}}, .values = {0, 3, -1, 2}, .interpolation = Interpolation::cubic});
///     model.add_force(x, -m * quake(time_symbol()));
///
/// Between its points a table is a polynomial, from each point to the next: of degree 1 (linear), 0 (steps, which hold from their point
/// on) or 3. `cubic` is the spline with two continuous derivatives, and with a continuous third one at the second and the last but
/// one point (not-a-knot), or periodic where the table is. `monotone` has one continuous derivative and no extreme between points
/// (Fritsch and Butland's slopes, PCHIP). On a grid it is the tensor product. A derivative is the derivative of the polynomials.
///
/// Tables are immutable and interned: of equal ones there is one. In an expression a table is a leaf, the third operand of
/// Op::lookup, and for evaluators a number that names it (table_lookup.hpp).

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

enum class Interpolation { linear, cubic, monotone, steps };
/// What holds beyond the first and the last point.
enum class Outside { error, hold, zero, periodic };

struct TableData {
  std::string name;
  std::vector<std::vector<double>> arguments;  ///< one or two, each ascending
  std::vector<double> values;  ///< at each of them; on a grid that of arguments[0][i], arguments[1][j] at i·n₁ + j
  Interpolation interpolation = Interpolation::linear;
  Outside outside = Outside::error;
  std::vector<std::string> argument_names = {};  ///< for messages; "x", "y" if there are none
};

/// What is wrong with data, and what would be right; nothing where a table can be made of them.
struct TableProblem {
  std::string message, hint;
  int argument = -1;                                ///< that it is about; −1: values, or all
  std::optional<std::size_t> point = std::nullopt;  ///< of that argument, or of the values
};
std::vector<TableProblem> find_problems(const TableData& data);
/// How few points of an argument will do.
std::size_t least_points(Interpolation interpolation);

class TableContent;

class Table {
 public:
  /// Throws std::invalid_argument where find_problems() finds some.
  explicit Table(TableData data);
  explicit Table(std::shared_ptr<const TableContent> content) : content_(std::move(content)) {}

  const std::string& name() const;
  int num_arguments() const;
  /// The highest derivative that is not zero everywhere.
  int degree() const;
  /// Its value at x, or a derivative by x. Of a table with one argument.
  Expr operator()(const Expr& x, int order = 0) const;
  /// On a grid; derivatives by x and y.
  Expr operator()(const Expr& x, const Expr& y, int order_x = 0, int order_y = 0) const;

  const TableContent& content() const { return *content_; }

 private:
  std::shared_ptr<const TableContent> content_;
};

}  // namespace mechanician
