// Which rows act in a step: the largest independent set, by column-pivoted QR of the rows in the mass metric.

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/kernels.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"
#include "mechanician/solve/mass.hpp"

namespace mechanician {

namespace {
/// Pivots below this times the first are rounding, where no generic rank is known yet.
constexpr double rank_tolerance_of_start = 1e-9;
/// A pivot beyond the generic rank that is larger than this times the first is no rounding.
constexpr double rank_has_grown = 1e-6;
/// A row that has shrunk by this much may have become rounding error of its own terms.
constexpr double suspicious = 1e-6;
}  // namespace

const std::vector<bool>& Dynamics::zero_rows(double t, const double* y) {
  const auto norm_of = [&](int j) {
    double s = 0.0;
    for (int l = A_begin_[j]; l < A_begin_[j + 1]; ++l) {
      const double a = rows_[at_row_A_ + A_entries_[l].at];
      s += a * a;
    }
    return std::sqrt(s);
  };
  bool look = start_size_.empty() && m_ > 0;
  for (int j = 0; !look && j < m_; ++j) look = norm_of(j) <= suspicious * start_size_[j];
  std::fill(zero_row_.begin(), zero_row_.end(), false);
  if (!look) return zero_row_;
  const Evaluation now =
      system_->evaluate({t, Eigen::Map<const Eigen::VectorXd>(y, n_), Eigen::Map<const Eigen::VectorXd>(y + n_, n_)});
  const bool first = start_size_.empty();
  for (int j = 0; j < m_; ++j) {
    const double noise = now.values.A_noise.norm(j);
    zero_row_[j] = norm_of(j) <= 4.0 * noise;
    if (first) start_size_.push_back(std::max(norm_of(j), noise / std::numeric_limits<double>::epsilon()));
  }
  return zero_row_;
}

bool Dynamics::evaluate_rows(double t, const double* q, const double* qd) {
  ++projections;
  set_inputs(t, q, qd);
  if (!run(row_values_, rows_)) return false;
  last_is_rows_ = true, last_A_ = at_row_A_;
  return true;
}

double Dynamics::calc_turn(double t, const double* y) {
  if (!evaluate_rows(t, y, y + n_)) return 1.0;
  const bool first = turned_from_.size() != A_entries_.size();
  turned_from_.resize(A_entries_.size());
  double turned = 0.0;
  for (const int j : sine_rows_) {
    double change = 0.0, now = 0.0, before = 0.0;
    for (int l = A_begin_[j]; l < A_begin_[j + 1]; ++l) {
      const double a = rows_[at_row_A_ + A_entries_[l].at], b = turned_from_[l];
      change += (a - b) * (a - b), now += a * a, before += b * b;
    }
    const double size = std::max(now, before);
    if (size > 0.0 && change > turned * size) turned = change / size;
  }
  for (std::size_t l = 0; l < A_entries_.size(); ++l) turned_from_[l] = rows_[at_row_A_ + A_entries_[l].at];
  return first ? 1.0 : std::sqrt(turned);
}

bool Dynamics::make_metric() {
  if (!singular_mass) return factor_mass(rows_, at_row_A_, all, false);
  std::fill(L_.begin(), L_.end(), 0.0);
  // That of the start: a scale that follows the coefficients would hide that they vanish.
  if (metric_scale_.empty()) metric_scale_ = coordinate_scale_;
  for (int i = 0; i < n_; ++i) L_[i * n_ + i] = 1.0 / metric_scale_[i];
  return true;
}

void Dynamics::calc_units(double* units) const {
  const std::vector<double>& scale = metric_scale_.empty() ? coordinate_scale_ : metric_scale_;
  std::copy_n(scale.begin(), n_, units);
  if (singular_mass) return;
  for (const Entry& e : M_entries_)
    if (e.row == e.col) units[e.row] = 1.0 / std::sqrt(rows_[e.at]);
}

void Dynamics::copy_row(int j, double* a) const {
  std::fill(a, a + n_, 0.0);
  for (int l = A_begin_[j]; l < A_begin_[j + 1]; ++l) {
    const Entry& e = A_entries_[l];
    a[e.col] = last()[last_A_ + e.at];
  }
}

bool Dynamics::choose(RowSet& set, double t, const double* y) {
  (void)t, (void)y;
  if (!factor_mass(rows_, at_row_A_, set, &set != &all)) return false;
  // Unit columns of Z = L⁻¹Aᵀ; rows that are zero do not act.
  std::vector<int>& order = set.kept;
  order.clear();
  set.pivot.clear();
  double* Z = pivot_Z_.data();
  for (const int j : set.candidates) {
    if (zero_row_[j] || inert[j]) continue;
    double* z = Z + static_cast<std::ptrdiff_t>(order.size()) * n_;
    copy_row(j, z);
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
    const double least = set.rank < 0 ? rank_tolerance_of_start : rank < set.rank ? 0.0 : rank_has_grown;
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

double Dynamics::calc_weakest_of_all(double t, const double* y) {
  const auto count = static_cast<Eigen::Index>(sine_rows_.size());
  const long before = projections;
  const bool ok = evaluate_rows(t, y, y + n_) && make_metric();
  projections = before;
  if (!ok || count == 0) return 0.0;
  // Unit columns, except that a row which has shrunk since the start stays small.
  Eigen::MatrixXd Z(n_, static_cast<Eigen::Index>(all.candidates.size()));
  for (std::size_t k = 0; k < all.candidates.size(); ++k) {
    const int j = all.candidates[k];
    double* const z = Z.col(static_cast<Eigen::Index>(k)).data();
    copy_row(j, z);
    const double shrunk = start_size_[j] > 0.0 ? std::min(1.0, kernels::norm(n_, z) / start_size_[j]) : 1.0;
    kernels::solve_lower(n_, L_.data(), z);
    const double size = kernels::norm(n_, z);
    for (int i = 0; i < n_; ++i) z[i] *= size > 0.0 ? shrunk / size : 0.0;
  }
  const auto R = Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(Z).matrixR();
  return count <= std::min(R.rows(), R.cols()) ? std::abs(R(count - 1, count - 1)) : 0.0;
}

bool Dynamics::choose_rows_now(double t, const double* y) {
  if (!evaluate_rows(t, y, y + n_)) return false;
  zero_rows(t, y);
  if (!singular_mass && !factor_mass(rows_, at_row_A_, all, false)) {
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n_, n_);
    for (const Entry& e : M_entries_) M(e.row, e.col) = rows_[e.at];
    if (check_mass(M).kind == MassKind::indefinite || check_mass(M).kind == MassKind::not_symmetric) return false;
    singular_mass = true;
  }
  if (singular_mass) calc_row_weights(rows_, at_row_A_);
  if (measured_) {
    all.kept.clear();
    return choose(positions, t, y) && choose(velocities, t, y);
  }
  if (!choose(all, t, y)) return false;
  for (RowSet* set : {&velocities, &positions}) {
    const RowSet& larger = set == &velocities ? all : velocities;
    if (set->candidates.size() == larger.candidates.size())
      set->kept = larger.kept, set->pivot = larger.pivot;
    else if (!choose(*set, t, y))
      return false;
  }
  return true;
}

double Dynamics::last_weakest() const {
  if (rows_far_) return weakest_sine_;
  refresh_values();
  double weakest = 1.0;
  for (const int j : all.kept) {
    double s = 0.0;
    for (int l = A_begin_[j]; l < A_begin_[j + 1]; ++l)
      s += v_[at_A_ + A_entries_[l].at] * v_[at_A_ + A_entries_[l].at];
    if (start_size_[j] > 0.0) weakest = std::min(weakest, std::sqrt(s) / start_size_[j]);
  }
  return weakest;
}

double Dynamics::last_mismatch() const {
  refresh_values();
  double worst = 0.0;
  const std::vector<int>& kept = rows_far_ ? sine_rows_ : all.kept;
  // What is held at rest accelerates by rounding alone: rows are compared with what the forces would do, too.
  auto& free = const_cast<std::vector<double>&>(column_);
  std::fill(free.begin(), free.end(), 0.0);
  for (const Entry& e : M_entries_)
    if (e.row == e.col && v_[e.at] > 0.0) free[e.row] = std::abs(v_[at_Q_ + e.row]) / v_[e.at];
  for (const int j : all.candidates) {
    if (zero_row_[j] || std::find(kept.begin(), kept.end(), j) != kept.end()) continue;
    const double b = v_[at_b_ + j];
    double off = -b, size = std::abs(b);
    for (int l = A_begin_[j]; l < A_begin_[j + 1]; ++l) {
      const double term = v_[at_A_ + A_entries_[l].at] * qdd_[A_entries_[l].col];
      off += term, size += std::abs(term) + std::abs(v_[at_A_ + A_entries_[l].at]) * free[A_entries_[l].col];
    }
    if (size > 0.0) worst = std::max(worst, std::abs(off) / size);
  }
  return worst;
}

/// λ = G(GᵀG)⁻¹λ_kept with A = G A_kept: the multipliers of least norm with the same force.
bool Dynamics::spread(const RowSet& set, std::vector<double>& lambda) {
  const int r = static_cast<int>(set.kept.size());
  if (r == 0) return true;
  // Columns of G: coefficients of each row in the kept ones, R⁻¹(Vᵀz)_top; Z_ holds the factors of the kept rows.
  std::fill(S_.begin(), S_.end(), 0.0);
  double* T = G_.data();
  for (int j = 0; j < m_; ++j) {
    double* g = T + static_cast<std::ptrdiff_t>(j) * m_;
    std::fill(g, g + r, 0.0);
    if (zero_row_[j]) continue;
    const auto at = std::find(set.kept.begin(), set.kept.end(), j);
    if (at != set.kept.end()) {
      g[at - set.kept.begin()] = 1.0;
    } else {
      copy_row(j, column_.data());
      kernels::solve_lower(n_, L_.data(), column_.data());
      kernels::apply_vt(n_, r, Z_.data(), tau_.data(), column_.data());
      kernels::solve_upper(r, n_, Z_.data(), column_.data());
      std::copy(column_.begin(), column_.begin() + r, g);
    }
    for (int a = 0; a < r; ++a)
      for (int b = 0; b < r; ++b) S_[a * r + b] += g[a] * g[b];
  }
  if (!kernels::cholesky(r, S_.data(), 0.0)) return false;
  for (int k = 0; k < r; ++k) column_[k] = lambda[set.kept[k]];
  kernels::solve_lower(r, S_.data(), column_.data());
  kernels::solve_lower_transposed(r, S_.data(), column_.data());
  for (int j = 0; j < m_; ++j) lambda[j] = kernels::dot(r, T + static_cast<std::ptrdiff_t>(j) * m_, column_.data());
  return true;
}

}  // namespace mechanician
