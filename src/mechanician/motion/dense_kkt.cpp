// M = L Lᵀ,  Z = L⁻¹A_Sᵀ = V [R; 0],  u = Vᵀ L⁻¹f:
//   x = L⁻ᵀ V [R⁻ᵀ g; u_below],   λ = R⁻¹(R⁻ᵀ g − u_top)
// the minimum of Gauss's function over A x = g (K93 eq. 16).

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/motion/kernels.hpp"
#include "mechanician/motion/kkt_factors.hpp"
#include "mechanician/motion/rank_limits.hpp"
#include "mechanician/solve/clear_mass.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"

namespace mechanician {

namespace {

/// What is added in projections where M is singular, in the units of the coordinates.
constexpr double loose_mass = 1e-13;

class DenseKkt final : public KktFactors {
 public:
  explicit DenseKkt(const EquationFacts& facts) : KktFactors(facts) {
    const auto n = static_cast<std::size_t>(n_), m = static_cast<std::size_t>(m_);
    L_.resize(n * n), metric_.resize(n * n);
    Z_.resize(n * std::max<std::size_t>(m, 1));
    pivot_Z_ = Z_;
    tau_.resize(m), pivot_tau_.resize(m), c_.resize(m), G_.resize(m * m), S_.resize(m * m);
    u_.resize(n), x_.resize(n), column_.resize(std::max(n, m));
    kept_.reserve(m);
  }
  std::unique_ptr<KktFactors> clone() const override { return std::make_unique<DenseKkt>(*this); }
  bool is_sparse() const override { return false; }

  MassKind judge_mass(const Matrices& at) override {
    fill(at.M, L_.data());
    L_is_constant_ = false;
    if (was_definite_ && kernels::cholesky(n_, L_.data(), clearly_definite)) return MassKind::definite;
    was_definite_ = false;
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n_, n_);
    for (std::size_t k = 0; k < pattern_.M.size(); ++k) {
      const auto [i, j] = pattern_.M[k];
      M(i, j) = M(j, i) = at.M[k];
    }
    if (!was_definite_ && is_clearly_definite(M)) was_definite_ = true;
    const MassKind kind = was_definite_ ? MassKind::definite : check_mass(M).kind;
    return kind == MassKind::definite && !was_definite_ ? MassKind::semidefinite : kind;
  }

  bool choose(const Matrices& at, RowSet& set, const std::vector<char>& off, Mass mass, double rounding) override {
    if (!factor_mass(at, set, mass)) return false;
    // Unit columns of Z = L⁻¹Aᵀ; rows that are zero do not act.
    std::vector<int>& order = set.kept;
    order.clear();
    set.pivot.clear();
    double* Z = pivot_Z_.data();
    for (const int j : set.candidates) {
      if (off[j]) continue;
      double* z = Z + static_cast<std::ptrdiff_t>(order.size()) * n_;
      copy_row(at, j, z);
      kernels::solve_lower(n_, L_.data(), z);
      const double size = kernels::norm(n_, z);
      if (size == 0.0) continue;
      for (int i = 0; i < n_; ++i) z[i] /= size;
      order.push_back(j);
    }
    const int m = static_cast<int>(order.size()), most = std::min(m, n_);
    int rank = 0;
    for (; rank < most; ++rank) {
      // The column with most left in it.
      double largest = -1.0;
      double* const corner = Z + static_cast<std::ptrdiff_t>(rank) * n_ + rank;
      const int best = rank + kernels::find_largest(n_ - rank, m - rank, n_, corner, largest);
      set.pivot.push_back(largest);
      // Beyond the generic rank there is rounding, unless the rank has grown since it was found.
      const double least = set.rank < 0 ? rounding : rank < set.rank ? 0.0 : rank_limits::has_grown;
      if (!(largest > least * set.pivot.front())) break;
      if (best != rank) {
        std::swap_ranges(Z + static_cast<std::ptrdiff_t>(rank) * n_, Z + static_cast<std::ptrdiff_t>(rank + 1) * n_,
                         Z + static_cast<std::ptrdiff_t>(best) * n_);
        std::swap(order[rank], order[best]);
      }
      const double tau = kernels::make_reflector(n_ - rank, corner);
      kernels::apply_reflector_to(n_ - rank, tau, corner, m - rank - 1, n_, corner + n_);
    }
    order.resize(static_cast<std::size_t>(rank));
    if (set.rank >= 0) set.rank = std::max(set.rank, rank);
    // Which row comes first must not depend on the last bit: kept rows in the order of the file.
    std::sort(order.begin(), order.end());
    return true;
  }

  bool factor(const Matrices& at, const RowSet& set, Mass mass) override {
    at_ = at;
    if (!factor_mass(at, set, mass)) return false;
    set_weights_ = singular_mass && mass == Mass::exact;
    if (set_weights_) augmenting_ = set.candidates;
    kept_.assign(set.kept.begin(), set.kept.end());
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      double* z = Z_.data() + static_cast<std::ptrdiff_t>(k) * n_;
      copy_row(at, kept_[k], z);
      kernels::solve_lower(n_, L_.data(), z);
    }
    const int r = static_cast<int>(kept_.size());
    kernels::qr(n_, r, Z_.data(), tau_.data());
    for (int k = 0; k < r; ++k)
      if (Z_[static_cast<std::size_t>(k) * n_ + k] == 0.0) return false;
    return true;
  }

  bool solve(const double* f, const double* g, double* x, double* lambda) override {
    const int r = static_cast<int>(kept_.size());
    if (f)
      std::copy(f, f + n_, u_.begin());
    else
      std::fill(u_.begin(), u_.end(), 0.0);
    if (set_weights_ && g)
      for (const int j : augmenting_) {
        const double wg = weights_[j] * g[j];
        for (const int* s = row_slots_.first(j); s != row_slots_.last(j); ++s) u_[pattern_.A[*s].col] += wg * at_.A[*s];
      }
    if (f || (set_weights_ && g)) {
      kernels::solve_lower(n_, L_.data(), u_.data());
      kernels::apply_vt(n_, r, Z_.data(), tau_.data(), u_.data());
    }
    for (int k = 0; k < r; ++k) c_[k] = g ? g[kept_[k]] : 0.0;
    if (g) kernels::solve_upper_transposed(r, n_, Z_.data(), c_.data());
    if (lambda) {
      for (int k = 0; k < r; ++k) column_[k] = c_[k] - u_[k];
      kernels::solve_upper(r, n_, Z_.data(), column_.data());
      std::fill(lambda, lambda + m_, 0.0);
      for (int k = 0; k < r; ++k) lambda[kept_[k]] = column_[k];
    }
    std::copy(u_.begin(), u_.end(), x);
    std::copy(c_.begin(), c_.begin() + r, x);
    kernels::apply_v(n_, r, Z_.data(), tau_.data(), x);
    kernels::solve_lower_transposed(n_, L_.data(), x);
    return true;
  }

  void calc_multiplier_sizes(const double* f, const double* g, double* size) override {
    solve(f, g, x_.data(), nullptr);
    std::fill(size, size + m_, 0.0);
    for (std::size_t k = 0; k < kept_.size(); ++k)
      size[kept_[k]] =
          (std::abs(c_[k]) + std::abs(u_[k])) / std::max(std::abs(Z_[k * static_cast<std::size_t>(n_) + k]), 1e-300);
  }

  bool spread(const RowSet& set, const std::vector<char>& off, double* lambda) override {
    const int r = static_cast<int>(kept_.size());
    if (r == 0) return true;
    // Columns of G: coefficients of each row in the kept ones, R⁻¹(Vᵀz)_top.
    std::fill(S_.begin(), S_.end(), 0.0);
    double* T = G_.data();
    for (const int j : set.candidates) {
      double* g = T + static_cast<std::ptrdiff_t>(j) * m_;
      std::fill(g, g + r, 0.0);
      if (off[j]) continue;
      const auto place = std::lower_bound(kept_.begin(), kept_.end(), j);
      if (place != kept_.end() && *place == j) {
        g[place - kept_.begin()] = 1.0;
      } else {
        copy_row(at_, j, column_.data());
        kernels::solve_lower(n_, L_.data(), column_.data());
        kernels::apply_vt(n_, r, Z_.data(), tau_.data(), column_.data());
        kernels::solve_upper(r, n_, Z_.data(), column_.data());
        std::copy(column_.begin(), column_.begin() + r, g);
      }
      for (int a = 0; a < r; ++a)
        for (int b = 0; b < r; ++b) S_[static_cast<std::size_t>(a) * r + b] += g[a] * g[b];
    }
    if (!kernels::cholesky(r, S_.data(), 0.0)) return false;
    for (int k = 0; k < r; ++k) column_[k] = lambda[kept_[k]];
    kernels::solve_lower(r, S_.data(), column_.data());
    kernels::solve_lower_transposed(r, S_.data(), column_.data());
    for (const int j : set.candidates)
      lambda[j] = kernels::dot(r, T + static_cast<std::ptrdiff_t>(j) * m_, column_.data());
    return true;
  }

  bool calc_multipliers(const Matrices& at, const double* force, double* lambda) override {
    Eigen::MatrixXd At = Eigen::MatrixXd::Zero(n_, m_);
    for (std::size_t k = 0; k < pattern_.A.size(); ++k) At(pattern_.A[k].col, pattern_.A[k].row) = at.A[k];
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver(n_, m_);
    solver.setThreshold(rank_limits::of_rate);
    Eigen::Map<Eigen::VectorXd>(lambda, m_) = solver.compute(At).solve(Eigen::Map<const Eigen::VectorXd>(force, n_));
    return true;
  }

  bool calc_pivots(const Matrices& at, std::span<const int> rows, std::span<double> inverse_pivots,
                   std::span<double> sizes) override {
    // R of Z = L⁻¹Aᵀ with the rows in this order.
    if (!make_metric(at)) return false;
    const std::size_t r = rows.size();
    for (std::size_t k = 0; k < r; ++k) {
      double* z = pivot_Z_.data() + k * static_cast<std::size_t>(n_);
      copy_row(at, rows[k], z);
      to_metric(z);
      const double size = kernels::norm(n_, z);
      sizes[k] = size * size;
    }
    kernels::qr(n_, static_cast<int>(r), pivot_Z_.data(), pivot_tau_.data());
    for (std::size_t k = 0; k < r; ++k) {
      const double pivot = pivot_Z_[k * static_cast<std::size_t>(n_) + k];
      inverse_pivots[k] = 1.0 / (pivot * pivot);
    }
    return true;
  }

  double calc_weakest(const Matrices& at, std::span<const int> rows, std::span<const double> shrunk,
                      std::size_t count) override {
    if (!make_metric(at) || count == 0) return 0.0;
    Eigen::MatrixXd Z(n_, static_cast<Eigen::Index>(rows.size()));
    for (std::size_t k = 0; k < rows.size(); ++k) {
      double* const z = Z.col(static_cast<Eigen::Index>(k)).data();
      copy_row(at, rows[k], z);
      to_metric(z);
      const double size = kernels::norm(n_, z);
      for (int i = 0; i < n_; ++i) z[i] *= size > 0.0 ? shrunk[k] / size : 0.0;
    }
    const auto R = Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(Z).matrixR();
    const auto last = static_cast<Eigen::Index>(count);
    return last <= std::min(R.rows(), R.cols()) ? std::abs(R(last - 1, last - 1)) : 0.0;
  }

  bool make_metric(const Matrices& at) override {
    if (!singular_mass) {
      if (mass_is_constant_ && metric_is_mass_) return true;
      fill(at.M, metric_.data());
      if (metric_is_mass_ = kernels::cholesky(n_, metric_.data(), clearly_definite); metric_is_mass_) return true;
      singular_mass = true;
    }
    std::fill(metric_.begin(), metric_.end(), 0.0);
    for (int i = 0; i < n_; ++i) metric_[static_cast<std::size_t>(i) * n_ + i] = 1.0 / coordinate_scale_[i];
    return true;
  }
  void to_metric(double* x) const override { kernels::solve_lower(n_, metric_.data(), x); }
  void from_metric(double* x) const override { kernels::solve_lower_transposed(n_, metric_.data(), x); }

 private:
  void copy_row(const Matrices& at, int j, double* a) const {
    std::fill(a, a + n_, 0.0);
    for (const int* s = row_slots_.first(j); s != row_slots_.last(j); ++s) a[pattern_.A[*s].col] = at.A[*s];
  }
  void fill(const double* M, double* L) const {
    std::fill(L, L + static_cast<std::ptrdiff_t>(n_) * n_, 0.0);
    for (std::size_t k = 0; k < pattern_.M.size(); ++k)
      L[static_cast<std::ptrdiff_t>(pattern_.M[k].col) * n_ + pattern_.M[k].row] = M[k];
  }

  bool factor_mass(const Matrices& at, const RowSet& set, Mass mass) {
    if (mass_is_constant_ && !singular_mass && L_is_constant_) return true;
    fill(at.M, L_.data());
    if (!singular_mass) {
      if (kernels::cholesky(n_, L_.data(), clearly_definite)) return L_is_constant_ = mass_is_constant_, true;
      // Definite where the motion began, and hardly any more: from here on the form that is right in both cases.
      fill(at.M, L_.data());
      singular_mass = true;
    }
    calc_row_weights(at);
    for (const int j : set.candidates) {
      const double w = weights_[j];
      for (const int* s = row_slots_.first(j); s != row_slots_.last(j); ++s)
        for (const int* t = row_slots_.first(j); t != row_slots_.last(j); ++t)
          L_[static_cast<std::size_t>(pattern_.A[*t].col) * n_ + pattern_.A[*s].col] += w * at.A[*s] * at.A[*t];
    }
    if (mass == Mass::loose)
      for (int i = 0; i < n_; ++i)
        L_[static_cast<std::size_t>(i) * n_ + i] += loose_mass / (coordinate_scale_[i] * coordinate_scale_[i]);
    return kernels::cholesky(n_, L_.data(), 0.0);
  }

  std::vector<double> L_, metric_, Z_, pivot_Z_, tau_, pivot_tau_, c_, u_, x_, column_, G_, S_;
  std::vector<int> kept_, augmenting_;
  Matrices at_{};
  bool L_is_constant_ = false, metric_is_mass_ = false, set_weights_ = false;
};

}  // namespace

std::unique_ptr<KktFactors> make_dense_kkt(const EquationFacts& facts) { return std::make_unique<DenseKkt>(facts); }

}  // namespace mechanician
