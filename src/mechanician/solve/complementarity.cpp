#include "mechanician/solve/complementarity.hpp"

#include <utility>

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double no_pivot = 1e-11;  // entries up to this fraction of the column are zero
constexpr double tie = 1e-12;       // ratios that differ by less, as a fraction of the largest number on the right

/// Columns: w, z, the artificial variable z₀, the right-hand side; rows by basic variable.
class Tableau {
 public:
  Tableau(const MatrixXd& M, const VectorXd& q) : n_(q.size()), numbers_(n_, 2 * n_ + 2), basis_(n_) {
    numbers_.leftCols(n_).setIdentity();
    numbers_.middleCols(n_, n_) = -M;
    numbers_.col(2 * n_).setConstant(-1.0);
    numbers_.col(2 * n_ + 1) = q;
    for (Index i = 0; i < n_; ++i) basis_[i] = i;
    size_ = q.cwiseAbs().maxCoeff();
  }

  bool solve() {
    Index row = 0;
    numbers_.col(right()).minCoeff(&row);
    Index leaving = exchange(row, artificial());
    const Index most = 50 * (n_ + 10);
    for (Index pivots = 0; pivots < most; ++pivots) {
      const Index entering = leaving < n_ ? leaving + n_ : leaving - n_;
      row = choose_row(entering);
      if (row < 0) return false;
      leaving = exchange(row, entering);
      if (leaving == artificial()) return true;
    }
    return false;
  }

  Complementarity answer() const {
    Complementarity a{VectorXd::Zero(n_), std::vector<bool>(n_, false)};
    for (Index i = 0; i < n_; ++i)
      if (basis_[i] >= n_) a.z(basis_[i] - n_) = numbers_(i, right()), a.positive[basis_[i] - n_] = true;
    return a;
  }

 private:
  Index artificial() const { return 2 * n_; }
  Index right() const { return 2 * n_ + 1; }

  /// The row whose variable reaches zero first; of several the lexicographically least, so that no cycle begins.
  Index choose_row(Index entering) const {
    const auto column = numbers_.col(entering);
    const double least = no_pivot * column.cwiseAbs().maxCoeff();
    std::vector<Index> rows;
    for (Index i = 0; i < n_; ++i)
      if (column(i) > least) rows.push_back(i);
    if (rows.empty()) return -1;
    for (Index at = -1; at < n_ && rows.size() > 1; ++at) {
      const Index by = at < 0 ? right() : at;
      double first = std::numeric_limits<double>::infinity();
      for (const Index i : rows) first = std::min(first, numbers_(i, by) / column(i));
      std::erase_if(rows, [&](Index i) {
        return numbers_(i, by) - first * column(i) > tie * (at < 0 ? size_ : 1.0) * std::max(1.0, column(i));
      });
      for (const Index i : rows)
        if (basis_[i] == artificial()) return i;
    }
    return rows.front();
  }

  Index exchange(Index row, Index entering) {
    numbers_.row(row) /= numbers_(row, entering);
    VectorXd column = numbers_.col(entering);
    column(row) = 0.0;
    const Eigen::RowVectorXd pivot = numbers_.row(row);
    numbers_.noalias() -= column * pivot;
    return std::exchange(basis_[row], entering);
  }

  Index n_;
  MatrixXd numbers_;
  std::vector<Index> basis_;  // by row
  double size_;
};

}  // namespace

std::optional<Complementarity> solve_complementarity(const MatrixXd& M, const VectorXd& q) {
  const Index n = q.size();
  if (n == 0 || q.minCoeff() >= 0.0) return Complementarity{VectorXd::Zero(n), std::vector<bool>(n, false)};
  Tableau tableau(M, q);
  if (!tableau.solve()) return std::nullopt;
  return tableau.answer();
}

}  // namespace mechanician
