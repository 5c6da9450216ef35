#include "mechanician/motion/crossing.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>

namespace mechanician {

namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double weak_below = 0.7;
constexpr Index always_all = 8, most_weak = 48;
/// A root counts where the singular value really falls to less than this part of what it is now.
constexpr double must_fall_to = 0.5;
}  // namespace

CrossingPredictor::CrossingPredictor(Dynamics& dynamics)
    : dynamics_(&dynamics), q_(dynamics.n()), qd_(dynamics.n()), row_(dynamics.n()) {}

void CrossingPredictor::set_reference(double t, const double* y) {
  const int n = dynamics_->n();
  reference_.assign(dynamics_->all.candidates.size(), 0.0);
  grows_.assign(reference_.size(), false);
  if (!dynamics_->evaluate_rows(t, y, y + n) || !dynamics_->make_metric()) return;
  const Eigen::Map<const MatrixXd> L(dynamics_->metric(), n, n);
  for (std::size_t j = 0; j < reference_.size(); ++j) {
    dynamics_->copy_row(static_cast<int>(j), row_.data());
    L.triangularView<Eigen::Lower>().solveInPlace(row_);
    reference_[j] = row_.norm();
    grows_[j] = dynamics_->is_zero_row(static_cast<int>(j)) || reference_[j] == 0.0;
  }
}

bool CrossingPredictor::calc_spectrum(double t, const double* y, Spectrum& s) {
  const int n = dynamics_->n();
  const auto& kept = dynamics_->all.kept;
  const auto r = static_cast<Index>(kept.size());
  if (!dynamics_->evaluate_rows(t, y, y + n) || !dynamics_->make_metric()) return false;
  const Eigen::Map<const MatrixXd> L(dynamics_->metric(), n, n);
  MatrixXd Z(n, r);
  s.D.resize(r);
  for (Index k = 0; k < r; ++k) {
    dynamics_->copy_row(kept[k], row_.data());
    L.triangularView<Eigen::Lower>().solveInPlace(row_);
    const double size = std::max(row_.norm(), reference_[kept[k]]);
    s.D(k) = size > 0.0 ? 1.0 / size : 0.0;
    Z.col(k) = row_ * s.D(k);
  }
  s.Z = Z;
  const Eigen::HouseholderQR<MatrixXd> qr(Z);
  const MatrixXd R = qr.matrixQR().topRows(r).triangularView<Eigen::Upper>();
  MatrixXd U_R;
  if (r <= 16) {
    const Eigen::JacobiSVD<MatrixXd> svd(R, Eigen::ComputeFullU | Eigen::ComputeFullV);
    s.sigma = svd.singularValues(), s.V = svd.matrixV(), U_R = svd.matrixU();
  } else {
    const Eigen::BDCSVD<MatrixXd> svd(R, Eigen::ComputeFullU | Eigen::ComputeFullV);
    s.sigma = svd.singularValues(), s.V = svd.matrixV(), U_R = svd.matrixU();
  }
  s.U = MatrixXd::Zero(n, r);
  s.U.topRows(r) = U_R;
  s.U.applyOnTheLeft(qr.householderQ());
  return s.sigma.allFinite();
}

bool CrossingPredictor::calc_signed(double t, const double* y, const Spectrum& s, Index weak, double& value) {
  const int n = dynamics_->n();
  const auto& kept = dynamics_->all.kept;
  // The metric of the state where the vectors were taken is still there: evaluate_rows does not touch it.
  const Eigen::Map<const MatrixXd> L(dynamics_->metric(), n, n);
  VectorXd u = s.U.col(weak);
  L.transpose().triangularView<Eigen::Upper>().solveInPlace(u);
  if (!dynamics_->evaluate_rows(t, y, y + n)) return false;
  value = 0.0;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    dynamics_->copy_row(kept[k], row_.data());
    value += u.dot(row_) * s.D(static_cast<Index>(k)) * s.V(static_cast<Index>(k), weak);
  }
  return std::isfinite(value);
}

CrossingPredictor::Passed CrossingPredictor::count_passed(double t, const double* y, const Spectrum& s) {
  const int n = dynamics_->n();
  const auto& kept = dynamics_->all.kept;
  const Index r = s.sigma.size();
  if (!dynamics_->evaluate_rows(t, y, y + n)) return {};
  const Eigen::Map<const MatrixXd> L(dynamics_->metric(), n, n);
  MatrixXd Z(n, r);
  for (Index k = 0; k < r; ++k) {
    dynamics_->copy_row(kept[k], row_.data());
    L.triangularView<Eigen::Lower>().solveInPlace(row_);
    Z.col(k) = row_ * s.D(k);
  }
  Passed passed;
  for (Index k = 0; k < r; ++k) {
    const double size = std::max(Z.col(k).norm(), s.Z.col(k).norm());
    if (size > 0.0) passed.turned = std::max(passed.turned, (Z.col(k) - s.Z.col(k)).norm() / size);
  }
  const MatrixXd S = s.U.transpose() * Z * s.V;
  // det S vanishes exactly where Z loses rank; each time one more eigenvalue passes zero.
  if (r == 1) {
    passed.count = S(0, 0) < 0.0;
  } else {
    const Eigen::EigenSolver<MatrixXd> eigen(S, false);
    for (Index k = 0; k < r; ++k) passed.count += eigen.eigenvalues()(k).real() < 0.0;
  }
  return passed;
}

bool CrossingPredictor::is_worth_a_look(double t, const double* y, bool implicit) {
  const int n = dynamics_->n();
  const auto& kept = dynamics_->all.kept;
  const Index r = static_cast<Index>(kept.size());
  if (r == 0 || !dynamics_->evaluate_rows(t, y, y + n)) return false;
  MatrixXd now(n, r);
  for (Index k = 0; k < r; ++k) {
    dynamics_->copy_row(kept[k], now.data() + k * n);
    // A row that vanishes at the start has its size from what follows.
    if (grows_[kept[k]] && dynamics_->make_metric()) {
      row_ = now.col(k);
      Eigen::Map<const MatrixXd>(dynamics_->metric(), n, n).triangularView<Eigen::Lower>().solveInPlace(row_);
      reference_[kept[k]] = std::max(reference_[kept[k]], row_.norm());
    }
    const double size = std::max(now.col(k).norm(), 1e-3 * dynamics_->start_size(kept[k]));
    if (size > 0.0) now.col(k) /= size;
  }
  double turned = 0.0;
  if (kept_before_ == kept)
    for (Index k = 0; k < r; ++k) turned = std::max(turned, (now.col(k) - rows_before_.col(k)).norm());
  else
    turned = 1.0;
  rows_before_.swap(now);
  kept_before_ = kept;
  if (implicit) {
    // Rows are not chosen anew in every step there, nor is anything foreseen.
    const double before = sigma_min_;
    Spectrum s;
    sigma_min_ = calc_spectrum(t, y, s) ? s.sigma(r - 1) / std::max(1.0, s.sigma(0)) : 0.0;
    return turned > 0.5 || turned > 0.3 * std::min(before, sigma_min_);
  }
  const double near = std::min(sigma_min_, 1.0 / dynamics_->all.condition());
  return turned > 0.5 || turned > 0.3 * near;
}

bool CrossingPredictor::fit(double t, const double* y, const double* qdd, double reach, const MatrixXd& LtU,
                            const MatrixXd& DV, const VectorXd& sigma) {
  const int n = dynamics_->n();
  const auto& kept = dynamics_->all.kept;
  const Index k = LtU.cols(), r = static_cast<Index>(kept.size());
  const Eigen::Map<const VectorXd> q(y, n), qd(y + n, n), a(qdd, n);
  MatrixXd S[2];
  for (int i = 0; i < 2; ++i) {
    const double tau = reach * (i + 1) / 2;
    q_ = q + tau * qd + 0.5 * tau * tau * a;
    qd_ = qd + tau * a;
    if (!dynamics_->evaluate_rows(t + tau, q_.data(), qd_.data())) return false;
    MatrixXd P(r, k);
    for (Index j = 0; j < r; ++j) {
      dynamics_->copy_row(kept[j], row_.data());
      P.row(j) = row_.transpose() * LtU;
    }
    S[i] = P.transpose() * DV;
  }
  // S(τ) = S₀ + x S₁ + x² S₂, x = τ/reach, through x = 0, ½, 1.
  const MatrixXd S0 = sigma.asDiagonal();
  const MatrixXd S1 = 4.0 * S[0] - S[1] - 3.0 * S0, S2 = 2.0 * S[1] - 4.0 * S[0] + 2.0 * S0;
  roots_.clear();
  const auto add = [&](double re, double im) {
    // x = 1/μ
    const double size = re * re + im * im;
    if (!(size > 0.0) || !std::isfinite(size)) return;
    const double x = re / size, y_im = std::abs(im) / size;
    // Where the interpolation is stretched too far it says nothing.
    if (x > 0.0 && x < 12.0 && y_im < 0.6 * x) roots_.push_back({x * reach, y_im > 1e-3 * x});
  };
  if (k == 1) {
    // s₂x² + s₁x + σ = 0 in μ = 1/x: σμ² + s₁μ + s₂ = 0
    const double b = S1(0, 0) / S0(0, 0), c = S2(0, 0) / S0(0, 0), d = 0.25 * b * b - c;
    if (d >= 0.0) {
      const double root = std::sqrt(d), far = b > 0.0 ? -0.5 * b - root : -0.5 * b + root;
      add(far, 0.0);
      if (far != 0.0) add(c / far, 0.0);
    } else {
      add(-0.5 * b, std::sqrt(-d));
    }
  } else {
    MatrixXd companion = MatrixXd::Zero(2 * k, 2 * k);
    const VectorXd inverse = sigma.cwiseInverse();
    companion.topLeftCorner(k, k) = -(inverse.asDiagonal() * S1);
    companion.topRightCorner(k, k) = -(inverse.asDiagonal() * S2);
    companion.bottomLeftCorner(k, k).setIdentity();
    if (!companion.allFinite()) return false;
    const Eigen::EigenSolver<MatrixXd> eigen(companion, false);
    if (eigen.info() != Eigen::Success) return false;
    for (Index i = 0; i < 2 * k; ++i)
      if (eigen.eigenvalues()(i).imag() >= 0.0) add(eigen.eigenvalues()(i).real(), eigen.eigenvalues()(i).imag());
  }
  std::sort(roots_.begin(), roots_.end(), [](const SingularRoot& x, const SingularRoot& z) { return x.tau < z.tau; });
  return true;
}

const std::vector<SingularRoot>& CrossingPredictor::predict(double t, const double* y, const double* qdd, double h) {
  roots_.clear();
  sigma_min_ = 1.0;
  const int n = dynamics_->n();
  if (dynamics_->all.kept.empty()) return roots_;
  Spectrum s;
  if (!calc_spectrum(t, y, s)) return roots_;
  const Index r = s.sigma.size();
  sigma_min_ = s.sigma(r - 1) / std::max(1.0, s.sigma(0));
  Index first = 0;
  while (r > always_all && first < r && s.sigma(first) >= weak_below * s.sigma(0)) ++first;
  first = std::max(first, r - most_weak);
  const Index k = r - first;
  if (k == 0) return roots_;
  // A singular value of zero (on the singular state) would make the companion matrix infinite.
  const VectorXd sigma = s.sigma.tail(k).cwiseMax(1e-14 * s.sigma(0));
  const Eigen::Map<const MatrixXd> L(dynamics_->metric(), n, n);
  MatrixXd LtU = s.U.rightCols(k);
  L.transpose().triangularView<Eigen::Upper>().solveInPlace(LtU);
  const MatrixXd DV = s.D.asDiagonal() * s.V.rightCols(k);

  if (!fit(t, y, qdd, 1.4 * h, LtU, DV, sigma)) {
    roots_.clear();
    return roots_;
  }
  // A root that matters is looked at more closely.
  if (!roots_.empty() && roots_.front().tau < 1.5 * h) {
    const double nearest = roots_.front().tau;
    const std::vector<SingularRoot> coarse = roots_;
    if (!fit(t, y, qdd, std::min(1.1 * nearest, 1.4 * h), LtU, DV, sigma) || roots_.empty()) roots_ = coarse;
    drop_false_roots(t, y, qdd, 1.5 * h, s);
  }
  return roots_;
}

/// Rows that turn by a right angle also make det S vanish: there the singular value itself does not fall.
void CrossingPredictor::drop_false_roots(double t, const double* y, const double* qdd, double horizon, const Spectrum& now) {
  const int n = dynamics_->n();
  const auto& kept = dynamics_->all.kept;
  const Index r = now.sigma.size();
  const Eigen::Map<const VectorXd> q(y, n), qd(y + n, n), a(qdd, n);
  const Eigen::Map<const MatrixXd> L(dynamics_->metric(), n, n);
  double checked = -1.0;
  bool last = false;
  std::erase_if(roots_, [&](const SingularRoot& root) {
    if (root.tau > horizon) return false;
    if (checked > 0.0 && root.tau < 1.02 * checked) return last;
    checked = root.tau;
    q_ = q + root.tau * qd + 0.5 * root.tau * root.tau * a;
    qd_ = qd + root.tau * a;
    if (!dynamics_->evaluate_rows(t + root.tau, q_.data(), qd_.data())) return last = false;
    MatrixXd Z(n, r);
    for (Index k = 0; k < r; ++k) {
      dynamics_->copy_row(kept[k], row_.data());
      L.triangularView<Eigen::Lower>().solveInPlace(row_);
      Z.col(k) = row_ * now.D(k);
    }
    const MatrixXd gram = Z.transpose() * Z;
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(gram, Eigen::EigenvaluesOnly);
    const double sigma = std::sqrt(std::max(0.0, eigen.eigenvalues()(0)));
    return last = sigma > must_fall_to * now.sigma(r - 1);
  });
}

StepPlan plan_step(const std::vector<SingularRoot>& roots, double h, double remaining) {
  StepPlan plan{.h = h};
  if (roots.empty() || roots.front().tau >= 1.35 * h) return plan;
  const double first = roots.front().tau, together = 0.1 * std::min(h, first / crossing_place);
  // A group: each root near the one before.
  double last = first, next = std::numeric_limits<double>::infinity();
  plan.turning = true;
  for (const SingularRoot& root : roots) {
    if (root.tau <= last + together) {
      last = root.tau;
      plan.turning &= root.turning;
    } else {
      next = std::min(next, root.tau);
    }
  }
  // Seen from afar one singular state with several weak directions is blurred: nearer by, it is sharp.
  if (last - first > together && first > 0.2 * h) return {.h = std::min({h, 0.6 * first, remaining})};
  const double middle = 0.5 * (first + last);
  // The end of the run comes well before the singular state: nothing to cross.
  if (remaining < 0.8 * first) return {.h = std::min(h, remaining)};
  const double room = std::min(h, 1.277 * (next - middle));
  plan.at = middle;
  if (middle / crossing_place <= 1.02 * room) {
    plan.h = middle / crossing_place, plan.crossing = true;
    return plan;
  }
  const double before = middle - crossing_place * 0.85 * room;
  if (before > 0.0) {
    plan.h = std::min(h, before);
    plan.at = 0.0, plan.turning = false;
  } else {
    plan.h = std::min(h, middle / crossing_place), plan.crossing = true;
    plan.at = crossing_place * plan.h;
  }
  return plan;
}

}  // namespace mechanician
