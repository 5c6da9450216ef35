#include "mechanician/solve/row_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace mechanician {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double accuracy = 1e-12;        // of residuals, against their terms
constexpr double share_of_others = 1e-4;  // of the largest terms, of which `accuracy` may be missing
constexpr int most_steps = 4;

}  // namespace

RowSolver::RowSolver(const InstantValues& values, bool augment_all) : augment_all_(augment_all) {
  const auto m = static_cast<std::size_t>(values.b.size());
  const SparseRows A = values.A.size() > 0 ? values.A : SparseRows(values.b.size(), values.M.rows());
  pattern_ = values.pattern;
  if (pattern_) {
    auto mass = pattern_->values_of_mass(values.M), rows = pattern_->values_of_rows(A, values.pattern_rows);
    if (mass && rows)
      M_ = std::move(*mass), A_ = std::move(*rows);
    else
      pattern_ = nullptr;
  }
  at_.resize(m);
  std::iota(at_.begin(), at_.end(), 0);
  if (pattern_ && !values.pattern_rows.empty())
    std::copy(values.pattern_rows.begin(), values.pattern_rows.end(), at_.begin());
  if (!pattern_) {
    pattern_ = std::make_shared<const InstantPattern>(values.M, A);
    M_ = *pattern_->values_of_mass(values.M);
    A_ = *pattern_->values_of_rows(A, {});
  }
  row_of_.assign(static_cast<std::size_t>(pattern_->m()), -1);
  for (std::size_t k = 0; k < m; ++k) row_of_[static_cast<std::size_t>(at_[k])] = static_cast<int>(k);
  elimination_ = pattern_->elimination(augment_all);
  f_left_.resize(static_cast<std::size_t>(pattern_->n())), dx_ = f_left_;
  g_left_.resize(static_cast<std::size_t>(pattern_->m())), dlambda_ = g_left_;
  held_ = A_;
}

/// The rows that hold without these.
void RowSolver::keep(const std::vector<char>& left_out) {
  kept_ = held_;
  for (std::size_t k = 0; k < left_out.size(); ++k) {
    if (!left_out[k]) continue;
    const int row = at_[k];
    std::fill(kept_.begin() + pattern_->first_slot(row), kept_.begin() + pattern_->first_slot(row + 1), 0.0);
  }
}

bool RowSolver::hold(const std::vector<char>& holds, Care care) {
  held_ = A_;
  int num_held = 0;
  std::vector<char> zero(holds.size(), 0);
  for (std::size_t k = 0; k < holds.size(); ++k) {
    const auto first = held_.begin() + pattern_->first_slot(at_[k]),
               last = held_.begin() + pattern_->first_slot(at_[k] + 1);
    if (!holds[k]) std::fill(first, last, 0.0);
    zero[k] = std::all_of(first, last, [](double a) { return a == 0.0; });
    num_held += holds[k] != 0;
  }
  dependent_.clear();
  near_decision_ = weak_ = false;
  robust_ = {};
  kept_ = held_;
  SparseResult result = elimination_->factor(M_, kept_);
  status_ = result.status;
  least_sine_ = result.row_growth > 1.0 ? 1.0 / std::sqrt(result.row_growth) : 1.0;
  if (status_ == SparseStatus::mass_not_definite || status_ == SparseStatus::not_finite) return false;
  std::vector<int> masked;
  for (const int row : elimination_->masked_rows())
    if (const int k = row_of(row); k >= 0 && holds[static_cast<std::size_t>(k)]) masked.push_back(k);
  std::sort(masked.begin(), masked.end());
  const bool only_zero =
      std::all_of(masked.begin(), masked.end(), [&](int k) { return zero[static_cast<std::size_t>(k)]; });
  const bool clear = only_zero && result.num_grey == 0;
  rank_ = num_held - static_cast<int>(masked.size());
  if (care == Care::search || clear) {
    for (const int k : masked) {
      robust_.dependences.emplace_back();
      robust_.dependences.back().row = at_[static_cast<std::size_t>(k)];
    }
    dependent_ = std::move(masked);
    return true;
  }

  // Beyond doubt, whatever the right-hand sides are.
  if (!asked_) asked_ = std::make_unique<SparseRobust>(pattern(), SparseRobustOptions{.augment_all = augment_all_});
  const std::vector<double> f(static_cast<std::size_t>(n()), 0.0), g(static_cast<std::size_t>(pattern_->m()), 0.0);
  robust_ = asked_->solve(M_, held_, f, g, care == Care::explain ? SparseExplain::all : SparseExplain::nothing);
  if (robust_.status == SparseStatus::mass_not_definite || robust_.status == SparseStatus::not_finite) {
    status_ = robust_.status;
    return false;
  }
  // Rows that do not hold are rows of zeros to it.
  std::erase_if(robust_.dependences, [&](const SparseDependence& d) {
    const int k = row_of(d.row);
    return k < 0 || !holds[static_cast<std::size_t>(k)];
  });
  std::vector<char> left_out(holds.size(), 0);
  for (const int row : robust_.dependent)
    if (const int k = row_of(row); k >= 0 && holds[static_cast<std::size_t>(k)])
      dependent_.push_back(k), left_out[static_cast<std::size_t>(k)] = 1;
  std::sort(dependent_.begin(), dependent_.end());
  rank_ = num_held - static_cast<int>(dependent_.size());
  near_decision_ = robust_.near_decision;
  if (robust_.row_growth > 1.0) least_sine_ = 1.0 / std::sqrt(robust_.row_growth);
  keep(left_out);
  result = elimination_->factor(M_, kept_);
  status_ = result.status;
  // Rows of zeros are masked; any other is one that the robust path has kept.
  const int num_zero = pattern_->m() - rank_;
  weak_ = result.num_masked > num_zero || result.num_grey > 0;
  return status_ != SparseStatus::mass_not_definite && status_ != SparseStatus::not_finite;
}

/// Fills what is missing in both equations; the largest share of the terms that it is of.
double RowSolver::calc_residual(const Answer& answer, const std::vector<double>& f, const std::vector<double>& g) {
  const SparsePattern& p = pattern();
  const auto size_n = static_cast<std::size_t>(p.n), size_m = static_cast<std::size_t>(p.m);
  std::vector<long double> left_f(f.begin(), f.end()), left_g(g.begin(), g.end());
  std::vector<double> size_f(size_n), size_g(size_m), mass(size_n, 0.0), largest_in_row(size_m, 0.0);
  for (std::size_t i = 0; i < size_n; ++i) size_f[i] = std::abs(f[i]);
  for (std::size_t j = 0; j < size_m; ++j) size_g[j] = std::abs(g[j]);
  for (std::size_t s = 0; s < kept_.size(); ++s) {
    if (kept_[s] == 0.0) continue;
    const auto i = static_cast<std::size_t>(p.A[s].col), j = static_cast<std::size_t>(p.A[s].row);
    const double lambda = answer.lambda(p.A[s].row);
    const long double force = static_cast<long double>(kept_[s]) * lambda;
    left_f[i] += force, size_f[i] += static_cast<double>(std::abs(force));
    largest_in_row[j] = std::max(largest_in_row[j], std::abs(kept_[s]));
  }
  for (std::size_t k = 0; k < M_.size(); ++k) {
    const auto i = static_cast<std::size_t>(p.M[k].row), j = static_cast<std::size_t>(p.M[k].col);
    left_f[i] -= static_cast<long double>(M_[k]) * answer.x(p.M[k].col),
        size_f[i] += std::abs(M_[k] * answer.x(p.M[k].col));
    if (i == j) {
      mass[i] = M_[k];
      continue;
    }
    left_f[j] -= static_cast<long double>(M_[k]) * answer.x(p.M[k].row),
        size_f[j] += std::abs(M_[k] * answer.x(p.M[k].row));
  }
  // Coordinates and rows whose own terms are all rounding have to bear that of the others.
  double fastest = 0.0, largest = 0.0;
  for (std::size_t i = 0; i < size_n; ++i) {
    fastest = std::max({fastest, std::abs(answer.x(static_cast<Index>(i))), mass[i] > 0.0 ? size_f[i] / mass[i] : 0.0});
    largest = std::max(largest, size_f[i]);
  }
  for (std::size_t s = 0; s < kept_.size(); ++s) {
    const auto i = static_cast<std::size_t>(p.A[s].col), j = static_cast<std::size_t>(p.A[s].row);
    left_g[j] -= static_cast<long double>(kept_[s]) * answer.x(p.A[s].col);
    size_g[j] += std::abs(kept_[s]) * (std::abs(answer.x(p.A[s].col)) + (mass[i] > 0.0 ? size_f[i] / mass[i] : 0.0));
  }
  double worst = 0.0;
  const auto take = [&](long double left, double size) {
    if (left == 0.0L) return;
    const double share = static_cast<double>(std::abs(left)) / size;
    worst = std::isnan(share) ? std::numeric_limits<double>::infinity() : std::max(worst, share);
  };
  for (std::size_t i = 0; i < size_n; ++i) {
    f_left_[i] = static_cast<double>(left_f[i]);
    take(left_f[i], size_f[i] + share_of_others * largest);
  }
  for (std::size_t j = 0; j < size_m; ++j) {
    g_left_[j] = static_cast<double>(left_g[j]);
    if (largest_in_row[j] > 0.0) take(left_g[j], size_g[j] + share_of_others * fastest * largest_in_row[j]);
    if (largest_in_row[j] == 0.0) g_left_[j] = 0.0;
  }
  return worst;
}

RowSolver::Answer RowSolver::solve(const VectorXd& f_given, const VectorXd& g_given) {
  const auto size_m = static_cast<std::size_t>(pattern_->m());
  const std::vector<double> f(f_given.begin(), f_given.end());
  std::vector<double> g(size_m, 0.0);
  for (int k = 0; k < num_rows(); ++k) g[static_cast<std::size_t>(at_[static_cast<std::size_t>(k)])] = g_given(k);
  for (std::size_t j = 0; j < size_m; ++j) {
    const auto first = kept_.begin() + pattern_->first_slot(static_cast<int>(j)),
               last = kept_.begin() + pattern_->first_slot(static_cast<int>(j) + 1);
    if (std::all_of(first, last, [](double a) { return a == 0.0; })) g[j] = 0.0;
  }
  Answer answer;
  answer.x = VectorXd::Zero(n()), answer.lambda = VectorXd::Zero(static_cast<Index>(size_m));
  const auto finish = [&] {
    VectorXd lambda(num_rows());
    for (int k = 0; k < num_rows(); ++k) lambda(k) = answer.lambda(at_[static_cast<std::size_t>(k)]);
    answer.lambda = std::move(lambda);
  };
  if (!weak_) {
    elimination_->solve(f, g, {answer.x.data(), f.size()}, {answer.lambda.data(), size_m});
    double residual = calc_residual(answer, f, g), last = std::numeric_limits<double>::infinity();
    for (int step = 0; step < most_steps; ++step) {
      elimination_->solve(f_left_, g_left_, dx_, dlambda_);
      double change = 0.0, size = 0.0;
      for (int i = 0; i < n(); ++i)
        change = std::max(change, std::abs(dx_[static_cast<std::size_t>(i)])),
        size = std::max(size, std::abs(answer.x(i)));
      // Corrections that do not shrink are rounding, or the factors are of no use.
      if (!(change < 0.5 * last)) break;
      last = change;
      answer.x += Eigen::Map<const VectorXd>(dx_.data(), n());
      answer.lambda += Eigen::Map<const VectorXd>(dlambda_.data(), static_cast<Index>(size_m));
      residual = calc_residual(answer, f, g);
      if (change <= 2.0 * eps * size) break;
    }
    answer.vouched = residual <= accuracy;
    if (answer.vouched) {
      finish();
      return answer;
    }
  }
  if (!asked_) asked_ = std::make_unique<SparseRobust>(pattern(), SparseRobustOptions{.augment_all = augment_all_});
  const SparseRobustSolution found = asked_->solve(M_, kept_, f, g, SparseExplain::nothing);
  if (found.x.empty()) {
    answer.vouched = false;
    finish();
    return answer;
  }
  answer.x = Eigen::Map<const VectorXd>(found.x.data(), n());
  answer.lambda = Eigen::Map<const VectorXd>(found.lambda.data(), static_cast<Index>(size_m));
  answer.vouched = calc_residual(answer, f, g) <= 1e-9;
  finish();
  return answer;
}

}  // namespace mechanician
